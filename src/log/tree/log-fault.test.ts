import assert from 'node:assert/strict'
import { copyFileSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { suite, test } from 'node:test'
import { every, publish } from '../../../test/stage/archive-node.ts'
import { OTHER_KEY, TEST_KEY, testSigner } from '../../../test/story/signing.ts'
import { openDirectory } from '../../../test/story/store-run.ts'
import { MINUTE_MS } from '../../protocol/moment.ts'
import { openAppender } from '../append.ts'
import type { HighWater } from '../store/high-water.ts'
import { openForWriting, readIdentity, storePath } from '../store/store.ts'
import { CARRIED } from '../store/identity-rows.ts'
import { faultAtStart, faultOfSpan } from './log-fault.ts'
import { newestCheckpoint } from './ready-log.ts'
import { openSigner } from './signer.ts'
import { openStoredTree } from './stored-tree.ts'

const EVENTS = 3

/** Runs the work on a store of a few events, with its mark and with the mark of two events more. */
function withLog(work: (db: DatabaseSync, mark: HighWater, ahead: HighWater) => void): void {
  using directory = openDirectory()
  const store = storePath(directory.path)
  const later = `${store}-later`
  const db = openForWriting(store)
  publish(openAppender(db, testSigner(db)), every(MINUTE_MS, EVENTS, Date.UTC(2026, 0, 1)))
  db.close()
  copyFileSync(store, later)
  using other = openForWriting(later)
  publish(openAppender(other, testSigner(other)), every(MINUTE_MS, 2, Date.UTC(2026, 0, 2)))
  using own = openForWriting(store)
  work(own, newestCheckpoint(own), newestCheckpoint(other))
}

suite('a fault at a start', () => {
  test('is named by the first seq, and by the last one when it is somewhere in a longer span', () => {
    assert.deepEqual(faultOfSpan({ after: 4, upTo: 5 }, 'it differs'), {
      seq: 5,
      reason: 'it differs',
      lost: false,
    })
    assert.deepEqual(faultOfSpan({ after: 4, upTo: 6 }, 'it differs'), {
      seq: 5,
      reason: 'it differs, somewhere up to seq 6',
      lost: false,
    })
  })

  test('is a high-water mark that the log does not hold: of another log, of an unknown key, or of later events', () =>
    withLog((db, mark, ahead) => {
      const { origin } = readIdentity(db)
      const forged = openSigner(origin, [OTHER_KEY]).sign(openStoredTree(db).at(EVENTS)).note
      const { log } = mark
      for (const [wrong, seq, lost, reason] of [
        [{ ...mark, log: 'f'.repeat(32) }, 1, false, /mark beside the store belongs to another log/],
        [{ ...mark, checkpoint: forged }, 1, false, /no key of this log has signed the high-water mark/],
        [ahead, EVENTS + 1, true, /the log ends at seq 3 but was published up to seq 5/],
        [
          { ...ahead, log: 'f'.repeat(32), former: [{ id: log, size: EVENTS }] },
          EVENTS + 1,
          true,
          /another log continues it/,
        ],
      ] as const) {
        const fault = faultAtStart(db, wrong)
        assert.deepEqual([fault?.seq, fault?.lost], [seq, lost])
        assert.match(fault?.reason ?? '', reason)
      }
      assert.equal(faultAtStart(db, mark), null)
      assert.equal(
        faultAtStart(db, { ...mark, checkpoint: forged }, [OTHER_KEY]),
        null,
        'before a change of keys',
      )
      assert.equal(faultAtStart(db, mark, [TEST_KEY]), null)
      assert.equal(faultAtStart(db, null), null)
    }))

  test('is a place in the table that the node had and the store lacks', () =>
    withLog((db, mark) => {
      const before = faultAtStart(db, { ...mark, place: 7 })
      assert.deepEqual([before?.seq, before?.lost], [EVENTS + 1, true])
      assert.match(before?.reason ?? '', /a copy from before it was moved there/)
      db.prepare('INSERT INTO meta VALUES (?, ?)').run(CARRIED.place, '7')
      const later = faultAtStart(db, { ...mark, place: 8 })
      assert.deepEqual([later?.seq, later?.lost], [EVENTS + 1, true])
      assert.match(later?.reason ?? '', /ends at place 7 of its table, and this node had place 8/)
      for (const right of [7, 6]) assert.equal(faultAtStart(db, { ...mark, place: right }), null)
      assert.equal(faultAtStart(db, mark), null)
    }))
})
