import type { Head } from '../../project/fold/books.ts'
import type { FailedOutcome } from '../admission/outcome.ts'

/** Work of one commit. */
export type CommitWork<Built> = Readonly<{
  /** Number of drafts, to estimate the bytes. */
  drafts: number
  /** Runs in a transaction on the newest known state. It may run again when another node was first. */
  build(): Built
  /** Called when the commit is on the disk, before `done`. */
  durable(head: Head): void
}>

/**
 * Result of a commit. `newest`: it was made on the newest state of the whole log. False when nothing changed, and other
 * nodes may have published what this one does not know. `too-large`: nothing changed, and a smaller one may succeed.
 */
export type CommitResult<Built> =
  | Readonly<{ is: 'committed'; built: Built; newest: boolean }>
  | Readonly<{ is: 'too-large' }>
  | Readonly<{ is: 'failed'; outcome: FailedOutcome }>

/** The way on which commits become durable: the embedded store, or the machines that keep the log. */
export type CommitPath = Readonly<{
  /** Most drafts of a commit, over all its requests. Bounds how long a reader waits for the next head. */
  draftsMax: number
  /** Most held drafts that a commit publishes. Bounds how long readers and publishers wait for it. */
  releaseMax: number
  /** Makes one commit and calls `done` once. The embedded store does so before it returns. */
  commit<Built>(work: CommitWork<Built>, done: (result: CommitResult<Built>) => void): void
  /** Settles when all events are known that were acknowledged anywhere before the call; false when that cannot be had. */
  barrier(): Promise<boolean>
  /** Whether a transaction is open, so that nothing else may read this connection. */
  isOpen(): boolean
}>
