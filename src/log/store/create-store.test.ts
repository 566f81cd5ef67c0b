import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync, writeFileSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import {
  createStore,
  finishBulk,
  hasStore,
  openForBulk,
  openForReading,
  openForWriting,
  readIdentity,
  STORE_FILE,
  storePath,
} from './store.ts'
import { skipUnless } from '../../../test/stage/test-needs.ts'

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
