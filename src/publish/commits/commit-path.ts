import type { Draft } from '../../protocol/draft.ts'
import type { FailedOutcome } from '../admission/outcome.ts'

/** Work of one commit. */
export type CommitWork<Built> = Readonly<{
  /** Number of drafts. */
  drafts: number
  /** Runs once, in a transaction on the newest books. */
  build(): Built
  /** Called when the commit is on the disk, before `done`. */
  durable(): void
  /** Called after a rollback, when the books are as they were before `build`. */
  undone(): void
}>

/** Result of a commit: what was built, or the refusal of all its requests. */
export type CommitEnd<Built> =
  | Readonly<{ is: 'committed'; built: Built }>
  | Readonly<{ is: 'failed'; outcome: FailedOutcome }>

/** Limits of a commit, in units of its path. */
export type CommitRoom = Readonly<{
  /** Whether the open commit has room for a further held draft. */
  hasRoom(): boolean
  /** Keeps room of this size in the open commit, for its requests that have not run yet. */
  reserve(size: number): void
  /** Size of a request with these drafts, or with a decision about so many held ones. */
  sizeOf(drafts: readonly Draft[]): number
  sizeOfDecision(drafts: number, reason: string): number
  /** Size of the chain's word about a transaction that so many held drafts name. */
  sizeOfWord(drafts: number, text: string): number
  /** Largest size of one request, and of all requests of a commit that has several. */
  requestMax: number
  requestsMax: number
}>

/**
 * Change of the books of a carried log: a commit of this node, commits of others, or a commit that was undone. The last two
 * outdate what was read before.
 */
export type BookChange = 'committed' | 'applied' | 'undone'

/** The way on which commits become durable: the embedded store, or the machines that keep the log. */
export type CommitPath = CommitRoom &
  Readonly<{
    /** Makes one commit and calls `done` once. The embedded store does so before it returns. */
    commit<Built>(work: CommitWork<Built>, done: (end: CommitEnd<Built>) => void): void
    /** Whether a transaction is open, so that nothing else may read the books. */
    isOpen(): boolean
  }>
