import assert from 'node:assert/strict'
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import {
  STORE_FILE,
  StoreError,
  createStore,
  finishBulk,
  hasStore,
  isSimulatedLog,
  openForBulk,
  openForReading,
  openForWriting,
  readIdentity,
  readStoreIdentity,
  storePath,
  writeIdentity,
} from './store.ts'
import { skipUnless } from '../../../test/processes/test-needs.ts'
import { openDirectory } from '../../../test/story/store-run.ts'
import { LockedError, lockDirectory } from './lock.ts'
import { type MirrorMeta, readMirrorMeta, refuseMirror, writeMirrorMeta } from './mirror-meta.ts'

const LOG = { origin: 'daybook.test/new', chain: 'opaque', simulated: false } as const

suite('a new log', () => {
  test('has its name only when it is complete, even if its creation is stopped at any step', () => {
    const data = mkdtempSync(join(tmpdir(), 'daybook-new-'))
    try {
      const broken = { ...LOG, origin: Symbol('no text') as unknown as string }
      assert.throws(() => createStore(storePath(data), broken))
      assert.equal(hasStore(data), false, 'what is not whole is no log')
      // The remains of a crash do not prevent the next attempt.
      for (const suffix of ['', '-journal', '-wal']) {
        writeFileSync(`${storePath(data)}.making${suffix}`, 'the rest of an attempt')
      }
      createStore(storePath(data), LOG)
      assert.deepEqual(readdirSync(data), [STORE_FILE])
      const db = openForReading(storePath(data))
      assert.equal(readIdentity(db).origin, LOG.origin)
      db.close()
    } finally {
      rmSync(data, { recursive: true })
    }
  })

  test(
    'may be read by its owner alone, since it holds the refs',
    { skip: skipUnless(process.platform !== 'win32', 'file modes') },
    () => {
      const data = mkdtempSync(join(tmpdir(), 'daybook-new-'))
      try {
        createStore(storePath(data), LOG)
        const db = openForWriting(storePath(data))
        db.exec("INSERT INTO meta VALUES ('key', 'value')")
        const modes = readdirSync(data).map((name) => statSync(join(data, name)).mode & 0o777)
        db.close()
        assert.deepEqual(modes, [0o600, 0o600, 0o600])
      } finally {
        rmSync(data, { recursive: true })
      }
    },
  )

  test('does not replace an existing one', () => {
    const data = mkdtempSync(join(tmpdir(), 'daybook-new-'))
    try {
      createStore(storePath(data), LOG)
      assert.throws(() => createStore(storePath(data), LOG))
    } finally {
      rmSync(data, { recursive: true })
    }
  })
})

suite('the store of a bulk import', () => {
  test('has no journal until it is finished, and then a write-ahead log', () => {
    const data = mkdtempSync(join(tmpdir(), 'daybook-bulk-'))
    try {
      createStore(storePath(data), LOG)
      const db = openForBulk(storePath(data))
      const journal = (): unknown => db.prepare('PRAGMA journal_mode').get()?.['journal_mode']
      db.exec("BEGIN IMMEDIATE; INSERT INTO meta VALUES ('key', 'value')")
      assert.equal(journal(), 'off')
      assert.deepEqual(readdirSync(data), [STORE_FILE])
      db.exec('COMMIT')
      finishBulk(db)
      assert.equal(journal(), 'wal')
      db.close()
      assert.deepEqual(readdirSync(data), [STORE_FILE])
    } finally {
      rmSync(data, { recursive: true })
    }
  })
})

suite('the lock of a data directory', () => {
  test('is taken once within one process too, and no other failure is reported as a lock', () => {
    using directory = openDirectory()
    const { path } = directory
    {
      using _lock = lockDirectory(path)
      assert.equal(statSync(join(path, 'lock')).mode & 0o777, 0o600, 'no other user can lock it')
      assert.throws(() => lockDirectory(path), LockedError)
    }
    lockDirectory(path)[Symbol.dispose]()
    writeFileSync(join(path, 'lock'), 'this is no database, so nobody can hold it as one'.repeat(99))
    assert.throws(
      () => lockDirectory(path),
      (error) => error instanceof Error && !(error instanceof LockedError),
    )
  })
})

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

const moments = fc.option(fc.nat())
const metas: fc.Arbitrary<MirrorMeta> = fc.record({
  of: fc.webUrl(),
  vkeys: fc.array(fc.string()),
  firstUse: fc.boolean(),
  held: fc.option(fc.json()),
  provedAt: moments,
  contactAt: moments,
})

suite('the store of a mirror', () => {
  test('says what it mirrors as it was written last, and keeps what a later writing leaves open', () => {
    using directory = openDirectory()
    using db = openForWriting(storePath(directory.path))
    assert.equal(readMirrorMeta(db), null)
    refuseMirror(db)
    let kept: Pick<MirrorMeta, 'held' | 'provedAt' | 'contactAt'> = {
      held: null,
      provedAt: null,
      contactAt: null,
    }
    fc.assert(
      fc.property(metas, (meta) => {
        writeMirrorMeta(db, meta)
        const { held, provedAt, contactAt } = meta
        kept = {
          held: held ?? kept.held,
          provedAt: provedAt ?? kept.provedAt,
          contactAt: contactAt ?? kept.contactAt,
        }
        assert.deepEqual(readMirrorMeta(db), { ...meta, ...kept })
        assert.throws(() => refuseMirror(db), StoreError)
      }),
      { numRuns: 30, endOnFailure: true },
    )
  })
})
