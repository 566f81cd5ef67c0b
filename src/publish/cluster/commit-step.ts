import type { HeardMark } from '../marks/other-writers.ts'
import { AWAY_MS } from '../marks/other-writers.ts'
import type { ReplicaState } from '../replica/replica.ts'
import type { WriterMark } from '../marks/writer-mark.ts'
import type { FailedOutcome } from '../admission/outcome.ts'
import { doorRefusal } from '../admission/outcome.ts'
import type { CommitEnd, CommitPath } from '../commits/commit-path.ts'
import type { StoreBook } from '../book/store-book.ts'

/** Parts that every step of the operator needs. */
export type StepParts = Readonly<{
  book: StoreBook
  path: CommitPath
  state(): ReplicaState | null
  monotonicMs(): number
}>

/**
 * Reason why the writers are not ready for a step; null when they are. Each was heard lately, runs and is in the same stream.
 * `refusalOf` says what else a writer lacks, in words after its name.
 */
export function writersRefusal(
  { book, state, monotonicMs }: Omit<StepParts, 'path'>,
  refusalOf: (mark: WriterMark) => string | null,
): string | null {
  const known = state()
  if (known === null || !known.isHeard) return 'this node has not heard the other writers yet: try again'
  const [silent] = known.silent
  if (silent !== undefined)
    return `the writer ${silent} is silent: start it, or delete its line from the file writers of each node`
  const isFresh = ({ atMs }: Pick<HeardMark, 'atMs'>): boolean => monotonicMs() - atMs <= AWAY_MS
  const heard = new Set(known.marks.filter(isFresh).map(({ mark }) => mark.node))
  for (const told of known.marks) {
    const { mark } = told
    const { node, stream, stopped } = mark
    // A writer that was set up again with an empty directory has another key, and its last mark with the old one stays.
    if (!isFresh(told) && heard.has(node)) continue
    if (!isFresh(told)) return `the writer ${node} is silent: start it`
    if (stopped !== null) return `the writer ${node} has stopped: mend it first`
    if (stream !== book.applied().stream) return `the writer ${node} is in stream ${stream}: wait for it`
    const refusal = refusalOf(mark)
    if (refusal !== null) return `the writer ${node} ${refusal}`
  }
  return null
}

/** Commits a step of the operator. `build` runs on the newest books, perhaps several times, and may build nothing. */
export function commitStep(
  { path }: Pick<StepParts, 'path'>,
  build: () => void,
  begins = false,
): Promise<CommitEnd<void>> {
  return new Promise((resolve) => {
    path.commit({ drafts: 0, begins, build, durable: () => undefined, undone: () => undefined }, resolve)
  })
}

/** A step that the log, its writers or its engine are not ready for. */
export function stepRefused(reason: string): FailedOutcome {
  return doorRefusal('wrong-state', reason)
}
