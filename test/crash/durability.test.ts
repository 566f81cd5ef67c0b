import assert from 'node:assert/strict'
import fs, { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { suite, test } from 'node:test'
import { draftOf } from '../stage/stream-stage.ts'
import { testSigner } from '../story/signing.ts'
import { formatEvent } from '../../src/protocol/event.ts'
import { msOf } from '../../src/protocol/moment.ts'
import { seqOf } from '../../src/protocol/seq.ts'
import { openAppender } from '../../src/log/append.ts'
import { renameDurably } from '../../src/log/store/durable-rename.ts'
import { createStore, finishBulk, openForBulk, openForWriting } from '../../src/log/store/store.ts'

/** `PRAGMA synchronous` of a connection that syncs each commit. */
const FULL = 2

const settingsOf = (db: DatabaseSync): readonly unknown[] => [
  db.prepare('PRAGMA journal_mode').get()?.['journal_mode'],
  db.prepare('PRAGMA synchronous').get()?.['synchronous'],
]

suite('a durable log', () => {
  const directory = mkdtempSync(join(tmpdir(), 'daybook-durable-'))
  test.after(() => rmSync(directory, { recursive: true }))
  const path = join(directory, 'daybook.db')
  createStore(path, { origin: 'daybook.test/durable', chain: 'opaque', simulated: false })

  test('syncs each commit of its writer, and of an import from its end on', () => {
    const bulk = openForBulk(path)
    finishBulk(bulk)
    assert.deepEqual(settingsOf(bulk), ['wal', FULL])
    bulk.close()
    const db = openForWriting(path)
    assert.deepEqual(settingsOf(db), ['wal', FULL])
    db.close()
  })

  test('is locked for writing from the begin of a commit on', () => {
    const db = openForWriting(path)
    const other = new DatabaseSync(path, { timeout: 0 })
    const appender = openAppender(db, testSigner(db))
    appender.begin()
    assert.throws(() => other.exec('BEGIN IMMEDIATE'), /locked/)
    appender.rollback()
    other.exec('BEGIN IMMEDIATE; ROLLBACK')
    other.close()
    db.close()
  })

  test('follows another only without a gap, and never back in time', () => {
    const db = openForWriting(path)
    const appender = openAppender(db, testSigner(db))
    appender.begin()
    const follow = (seq: number, atMs: number): void => {
      const { type, kind, contestId, kots, tx, details } = draftOf(2)
      const event = { seq: seqOf(seq), type, kind, atMs: msOf(atMs), contestId, kots, tx }
      appender.follow({ event, details }, { line: formatEvent(event), detailsLine: null }, null)
    }
    assert.throws(() => follow(2, 1_000), /seq 2 follows seq 0/)
    follow(1, 1_000)
    assert.throws(() => follow(3, 1_000), /seq 3 follows seq 1/)
    assert.throws(() => follow(1, 1_000), /seq 1 follows seq 1/)
    assert.throws(() => follow(2, 999), /seq 2 follows seq 1/)
    appender.rollback()
    db.close()
  })

  test('renames a file after its content, and before its name, is synced', (t) => {
    const steps: string[] = []
    const kindOf = (file: number): string => (fs.fstatSync(file).isDirectory() ? 'directory' : 'file')
    const [sync, rename] = [fs.fsyncSync, fs.renameSync]
    t.mock.method(fs, 'fsyncSync', (file: number) => {
      steps.push(`sync ${kindOf(file)}`)
      sync(file)
    })
    t.mock.method(fs, 'renameSync', (from: string, to: string) => {
      steps.push('rename')
      rename(from, to)
    })
    syncBuiltinESMExports()
    writeFileSync(join(directory, 'making'), 'whole')
    renameDurably(join(directory, 'making'), join(directory, 'made'))
    t.mock.reset()
    syncBuiltinESMExports()
    assert.deepEqual(steps, ['sync file', 'rename', 'sync directory'])
  })
})
