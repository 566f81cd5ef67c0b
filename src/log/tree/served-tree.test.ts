import assert from 'node:assert/strict'
import type { DatabaseSync } from 'node:sqlite'
import { suite, test } from 'node:test'
import { every, publish } from '../../../test/stage/archive-node.ts'
import { testSigner } from '../../../test/story/signing.ts'
import { openDirectory } from '../../../test/story/store-run.ts'
import { MINUTE_MS } from '../../protocol/moment.ts'
import { openAppender } from '../append.ts'
import type { HighWater } from '../store/high-water.ts'
import { openForWriting, storePath } from '../store/store.ts'
import type { EnginePosition } from '../stream/engine-position.ts'
import { servedMessage } from '../stream/engine-position.ts'
import { newestCheckpoint } from './ready-log.ts'
import { openServedTree } from './served-tree.ts'

const EVENTS = 3
/** Messages that the log has so far. */
const at = (place: number, digest = 1): EnginePosition => ({
  stream: 1,
  place,
  digest: new Uint8Array(32).fill(digest),
})

/** Runs the work on a store of a few events, with the mark of a node that has served them all. */
function serving(hour: number, work: (db: DatabaseSync, mark: HighWater) => void): void {
  using directory = openDirectory()
  const db = openForWriting(storePath(directory.path))
  publish(openAppender(db, testSigner(db)), every(MINUTE_MS, EVENTS, Date.UTC(2026, 0, 1, hour)))
  work(db, newestCheckpoint(db))
  db.close()
}

suite('the tree that a node has served and its restored store lacks', () => {
  test('is compared when the log has just as many events again, and not before', () =>
    serving(0, (db, mark) => {
      const served = openServedTree(db, mark)
      for (const [seq, isReached] of [
        [0, false],
        [EVENTS - 1, false],
        [EVENTS, true],
      ] as const) {
        assert.equal(served.differs(seq, at(9)), false)
        assert.equal(served.isReached(), isReached, `at seq ${seq}`)
      }
    }))

  test('differs once from that of another log, at its size or above', () =>
    serving(0, (_, mark) =>
      serving(1, (other) => {
        for (const seq of [EVENTS, EVENTS + 1]) {
          const served = openServedTree(other, mark)
          assert.equal(served.differs(EVENTS - 1, at(9)), false)
          assert.equal(served.differs(seq, at(9)), true)
          assert.deepEqual([served.isReached(), served.differs(seq, at(9))], [true, false])
        }
      }),
    ))

  test('waits for the message that the node had, which must be the same', () =>
    serving(0, (db, mark) => {
      for (const digest of [1, 2]) {
        const served = openServedTree(db, { ...mark, message: servedMessage(at(7)) })
        assert.equal(served.differs(EVENTS, at(6)), false)
        assert.equal(served.isReached(), false)
        assert.equal(served.differs(EVENTS, at(7, digest)), digest !== 1)
        assert.equal(served.isReached(), true)
      }
    }))

  test('is none without a mark', () =>
    serving(0, (db) => {
      const served = openServedTree(db, null)
      assert.equal(served.isReached(), true)
      assert.equal(served.differs(EVENTS, at(1)), false)
    }))
})
