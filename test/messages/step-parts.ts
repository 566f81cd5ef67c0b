import assert from 'node:assert/strict'
import type { DatabaseSync } from 'node:sqlite'
import type { StoreBook } from '../../src/publish/book/store-book.ts'
import type { CommitPath } from '../../src/publish/commits/commit-path.ts'
import type { ReplicaState } from '../../src/publish/replica/replica.ts'
import type { WriterMark } from '../../src/publish/marks/writer-mark.ts'
import { SOME_MARK } from './some-mark.ts'
import type { BookCluster } from './book-cluster.ts'

const MARK: WriterMark = { ...SOME_MARK, node: 'other', keys: [] }

/** State of a writer that takes commits and has heard of no other. */
export const QUIET_STATE: ReplicaState = {
  append: 'idle',
  end: { place: 1, digest: new Uint8Array(32) },
  last: 1,
  unsettledMs: null,
  unknownTotal: 0,
  voidTotal: 0,
  isHeard: true,
  waitsFor: [],
  silent: [],
  marks: [],
  twins: [],
  refusedMarks: 0,
  stopped: null,
  isFailing: false,
  engine: { offset: null, isOld: null, complaints: [] },
}

/** Present moment of the parts, in milliseconds. */
export const STEP_NOW_MS = 100_000

/** A replica that has heard one other writer. */
export function markedAt(atMs: number, mark: Partial<WriterMark>): Partial<ReplicaState> {
  return { marks: [{ mark: { ...MARK, ...mark }, key: 'key', atMs }] }
}

/** Parts of a step on the first node of a cluster. Its path adds each message to those of the cluster. */
type TestStepParts = Readonly<{
  db: DatabaseSync
  book: StoreBook
  path: CommitPath
  state(): ReplicaState
  monotonicMs(): number
}>

export function stepParts(cluster: BookCluster, state: Partial<ReplicaState>): TestStepParts {
  const { book, db } = cluster.node(0)
  const fail = (): never => assert.fail('a step asks for no room')
  const path: CommitPath = {
    commit(work, done) {
      book().begin()
      const built = work.build()
      const bytes = book().message()
      if (bytes === null) book().rollback()
      else {
        const place = book().applied().place + 1
        book().commit(bytes)
        cluster.append({ place, bytes })
      }
      done({ is: 'committed', built })
    },
    isOpen: fail,
    hasRoom: fail,
    reserve: fail,
    sizeOf: fail,
    sizeOfDecision: fail,
    sizeOfWord: fail,
    requestMax: 0,
    requestsMax: 0,
  }
  return {
    db: db(),
    book: book(),
    path,
    state: () => ({ ...QUIET_STATE, ...state }),
    monotonicMs: () => STEP_NOW_MS,
  }
}
