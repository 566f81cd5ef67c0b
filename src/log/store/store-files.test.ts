import assert from 'node:assert/strict'
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { openDirectory } from '../../../test/story/store-run.ts'
import {
  isSimulatedLog,
  openForReading,
  openForWriting,
  readIdentity,
  readStoreIdentity,
  StoreError,
  storePath,
  writeIdentity,
} from './store.ts'

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
  test('is read as it was written last', () => {
    using directory = openDirectory()
    using db = openForWriting(storePath(directory.path))
    const { id } = readIdentity(db)
    assert.match(id, /^[0-9a-f]{32}$/)
    for (const simulated of [true, false]) {
      const origin = `daybook.test/${simulated}`
      const former = [{ id: 'a'.repeat(32), origin: 'daybook.test/before', size: 7 }]
      const identity = { id: 'b'.repeat(32), origin, chain: 'solana', simulated, former } as const
      writeIdentity(db, identity)
      assert.deepEqual(readIdentity(db), identity)
      assert.equal(isSimulatedLog(directory.path), simulated)
    }
  })

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
