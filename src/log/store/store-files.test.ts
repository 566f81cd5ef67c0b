import assert from 'node:assert/strict'
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { openDirectory } from '../../../test/story/store-run.ts'
import { openForReading, openForWriting, readStoreIdentity, StoreError, storePath } from './store.ts'

suite('a backup in the place of a store', () => {
  test('is not opened with the write-ahead log of the store before it', () => {
    using directory = openDirectory()
    const store = storePath(directory.path)
    const foreign = `${store}-wal`
    // A backup has no write-ahead log.
    const db = openForWriting(store)
    assert.equal(db.prepare('PRAGMA journal_mode = DELETE').get()?.['journal_mode'], 'delete')
    db.close()
    writeFileSync(foreign, 'pages of another store')
    for (const open of [openForReading, openForWriting])
      assert.throws(
        () => open(store),
        new StoreError(`${foreign} belongs to another store: remove it and ${store}-shm`),
      )
    writeFileSync(foreign, '')
    openForReading(store).close()
    openForWriting(store).close()
  })
})

suite('the identity of a log', () => {
  test('is read without leaving a connection, which would keep others from the file', () => {
    using directory = openDirectory()
    const { origin } = readStoreIdentity(directory.path)
    assert.equal(origin, 'daybook.test/store')
    using db = openForWriting(storePath(directory.path))
    assert.equal(db.prepare('PRAGMA journal_mode = DELETE').get()?.['journal_mode'], 'delete')
  })
})

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
