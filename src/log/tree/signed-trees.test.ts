import assert from 'node:assert/strict'
import type { DatabaseSync } from 'node:sqlite'
import { suite, test } from 'node:test'
import * as fc from 'fast-check'
import { every, publish } from '../../../test/stage/archive-node.ts'
import {
  change,
  flip,
  makeLog,
  NEW_LOG,
  openFolder,
  rebuildTree,
  signAgain,
} from '../../../test/story/damaged-log.ts'
import { OTHER_KEY, TEST_KEY, testSigner } from '../../../test/story/signing.ts'
import { MINUTE_MS } from '../../protocol/moment.ts'
import { openAppender } from '../append.ts'
import { createStore, openForWriting, storePath } from '../store/store.ts'
import { inTransaction } from '../store/in-transaction.ts'
import { beginNewLog } from './ready-log.ts'
import { openSignedTrees } from './signed-trees.ts'

/** The last seq of the first month, which is signed when the month is closed. */
const MONTH_END = 300

type CommitSizes = Readonly<{ sizes: readonly number[]; at: number }>

/** Sizes of commits, and the seq of one of their events. */
const tries: fc.Arbitrary<CommitSizes> = fc
  .array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 24 })
  .chain((sizes) => {
    const events = sizes.reduce((sum, size) => sum + size, 0)
    return fc.record({ sizes: fc.constant(sizes), at: fc.integer({ min: 1, max: events }) })
  })

function endsOf(sizes: readonly number[]): readonly number[] {
  let end = 0
  return sizes.map((size) => (end += size))
}

/** The signed sizes around an event. */
function spanOf(ends: readonly number[], at: number): Readonly<{ after: number; upTo: number }> {
  const head = ends.at(-1) ?? 0
  const signed = [0, ...ends, ...(head > MONTH_END ? [MONTH_END] : [])]
  return {
    after: Math.max(...signed.filter((size) => size < at)),
    upTo: Math.min(...signed.filter((size) => size >= at)),
  }
}

function changeEvent(db: DatabaseSync, at: number): void {
  db.prepare(`UPDATE events SET line = replace(line, '"at":"2026', '"at":"2025') WHERE seq = ?`).run(at)
  rebuildTree(db, at, [1])
}

/** Makes a log, changes its store, and runs `ask` on it. */
function damaged(
  ends: readonly number[],
  damage: (db: DatabaseSync) => void,
  ask: (db: DatabaseSync) => void,
): void {
  using folder = openFolder()
  makeLog(folder.data, ends)
  change(folder.data, (db) => {
    assert.equal(openSignedTrees(db).firstWrong(), null, 'it is right before the damage')
    damage(db)
    ask(db)
  })
}

suite('the signed trees of a log', () => {
  test('name the commit in which an event was changed with its tree', () => {
    fc.assert(
      fc.property(tries, ({ sizes, at }) => {
        const ends = endsOf(sizes)
        damaged(
          ends,
          (db) => changeEvent(db, at),
          (db) => assert.deepEqual(openSignedTrees(db).firstWrong(), spanOf(ends, at)),
        )
      }),
      { numRuns: 12 },
    )
  })

  test('name the same commit when everything after it was signed with another key', () => {
    fc.assert(
      fc.property(tries, ({ sizes, at }) => {
        const ends = endsOf(sizes)
        const damage = (db: DatabaseSync): void => {
          changeEvent(db, at)
          signAgain(db, at, OTHER_KEY)
        }
        damaged(ends, damage, (db) => assert.deepEqual(openSignedTrees(db).firstWrong(), spanOf(ends, at)))
      }),
      { numRuns: 6 },
    )
  })

  test('name the commit within a wrong span, or its end when the signatures inside are right', () => {
    const ends = endsOf(Array.from({ length: 20 }, () => 7))
    damaged(
      ends,
      (db) => changeEvent(db, 33),
      (db) => {
        const trees = openSignedTrees(db)
        assert.deepEqual(trees.firstWrongWithin({ after: 0, upTo: 140 }), { after: 28, upTo: 35 })
        assert.deepEqual(trees.firstWrongWithin({ after: 0, upTo: 34 }), { after: 28, upTo: 34 })
        assert.deepEqual(trees.firstWrongWithin({ after: 0, upTo: 6 }), { after: 0, upTo: 6 })
        assert.deepEqual(
          [trees.isSignedAt(28), trees.isSignedAt(35), trees.isSignedAt(30)],
          [true, false, false],
        )
        assert.equal(trees.lastSigned(), 140)
      },
    )
  })

  test('of a former log are signed under its origin, or under that of today, and not otherwise', () => {
    damaged(
      [2, 5],
      () => undefined,
      (db) => {
        inTransaction(db, () => beginNewLog(db, null, [TEST_KEY]))
        const signature = (): unknown => db.prepare('SELECT signature FROM events WHERE seq = 2').get()
        const isSignedAt = (): boolean => openSignedTrees(db).isSignedAt(2)
        const former = signature()
        assert.ok(isSignedAt())
        signAgain(db, 1, TEST_KEY)
        assert.notDeepEqual(signature(), former)
        assert.ok(isSignedAt())
        flip(db, 'events', 'signature', 'seq = 2')
        assert.ok(!isSignedAt())
      },
    )
  })

  test('name the last event before a month without events whose checkpoint was changed', () => {
    using folder = openFolder()
    createStore(storePath(folder.data), NEW_LOG)
    const db = openForWriting(storePath(folder.data))
    const appender = openAppender(db, testSigner(db))
    publish(appender, every(MINUTE_MS, 5, Date.UTC(2026, 0, 1)))
    publish(appender, every(MINUTE_MS, 2, Date.UTC(2026, 2, 1)))
    assert.equal(openSignedTrees(db).firstWrong(), null)
    db.exec(
      `UPDATE months SET manifest = json_set(manifest, '$.checkpoint', 'no note') WHERE month = '2026-02'`,
    )
    assert.deepEqual(openSignedTrees(db).firstWrong(), { after: 4, upTo: 5 })
    db.close()
  })
})
