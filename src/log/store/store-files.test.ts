import assert from 'node:assert/strict'
import { copyFileSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { openDirectory } from '../../../test/story/store-run.ts'
import { openForReading, openForWriting, storePath } from './store.ts'

suite('a reader of a store', () => {
  test('sees what is only in the write-ahead log of a killed writer, and leaves the files as they are', () => {
    using directory = openDirectory()
    const left = join(directory.path, 'left')
    mkdirSync(left)
    const files = ['', '-wal'].map((suffix) => `${storePath(left)}${suffix}`)
    using writer = openForWriting(storePath(directory.path))
    writer.exec("INSERT INTO meta VALUES ('key', 'value')")
    for (const file of files) copyFileSync(file.replace(left, directory.path), file)
    const before = files.map((file) => readFileSync(file))
    const reader = openForReading(storePath(left))
    assert.equal(reader.prepare("SELECT value FROM meta WHERE key = 'key'").get()?.['value'], 'value')
    reader.close()
    assert.deepEqual(
      files.map((file) => readFileSync(file)),
      before,
    )
  })
})
