import type { Appender } from '../log/append.ts'
import type { Draft } from '../protocol/draft.ts'
import { requestRefusal, type FailedOutcome } from './admission/outcome.ts'

/** Path on which commits become durable: the store of this node, or machines that carry the log. */
export type CommitPath = CommitRoom &
  Readonly<{
    /**
     * Runs `build` once, in a transaction on the newest books. Settles when the transaction is on the disk or undone.
     * `size` is the size of its requests.
     */
    commit<Built>(size: number, build: () => Built): Promise<CommitEnd<Built>>
    /** Whether a transaction is open. Then nothing else may read the books. */
    isOpen(): boolean
  }>

/** Result of a commit: the value that `build` returned, or the refusal of all its requests. */
type CommitEnd<Built> = Readonly<{ ok: true; built: Built }> | FailedOutcome

/** Limits of a commit, in units of its path. */
export type CommitRoom = Readonly<{
  /** Whether the open commit has room for another held draft. */
  hasRoom(): boolean
  /** Reserves this much room in the open commit, for its requests that have not run yet. */
  reserve(size: number): void
  /** Size of a request with these drafts, or with a decision about so many held drafts. */
  sizeOf(drafts: readonly Draft[]): number
  sizeOfDecision(drafts: number, reason: string): number
  /** Size of the chain's verdict on a transaction that this many held drafts name. */
  sizeOfVerdict(drafts: number, text: string): number
  /** Largest size of one request, and of all requests in a commit of several. */
  requestMax: number
  requestsMax: number
}>

/** Adds a request's work of this size to the next commit. Settles with its result when that is on the disk. */
export type Enqueue = <Result>(size: number, work: () => Result) => Promise<Result | FailedOutcome>

/**
 * Change of the books of a log that several nodes share: a commit of this node, commits of others, or an undone commit.
 * After the last two, former reads are outdated.
 */
export type BookChange = 'committed' | 'applied' | 'undone'

/** Reports of failed commits, and a probe of the disk. */
export type CommitFailureSettings = Readonly<{
  /** Whether the disk lacks room for about so many bytes. */
  isDiskFull(bytes: number): boolean
  /** Called when a commit was refused because the disk is full. */
  onFull(): void
  /** Called after a failure that makes the store unusable for this process. */
  onBroken(error: Error): void
}>

/** Most drafts of a commit, over all its requests. Limits how long a reader waits for the next head. */
const COMMIT_DRAFTS_MAX = 20_000

/** Opens the commits of a log that only this node writes. Each is a transaction of its store. */
export function openOwnPath(settings: CommitFailureSettings & Readonly<{ appender: Appender }>): CommitPath {
  const { appender } = settings
  return {
    async commit(size, build) {
      try {
        appender.begin()
        const built = build()
        // A crash before this returns leaves nothing of the commit, or all of it if the fsync is done. A crash after it
        // leaves all of it. A publisher without an answer sends the same refs again either way.
        appender.commit()
        return { ok: true, built }
      } catch (error) {
        return undo(settings, error, size)
      }
    },
    isOpen: () => false,
    hasRoom: () => true,
    reserve: () => undefined,
    sizeOf: ({ length }) => length,
    sizeOfDecision: (drafts) => drafts,
    sizeOfVerdict: (drafts) => drafts,
    requestMax: Number.POSITIVE_INFINITY,
    requestsMax: COMMIT_DRAFTS_MAX,
  }
}

/** Refuses everything after a failure that makes the store unusable for this process. */
export const UNAVAILABLE: FailedOutcome = requestRefusal(
  'store-unavailable',
  'the store does not accept events',
)

/** Refuses a commit for which the disk has no room. */
export const FULL: FailedOutcome = requestRefusal('store-full', 'the disk is full; nothing was published')

export const WRONG_CLOCK: FailedOutcome = requestRefusal(
  'clock',
  'the clock of the machine is wrong by a minute or more; nothing was published',
)

/** Refuses everything after a file of the store was replaced or removed. Its events would be lost at the next start. */
export const REPLACED: FailedOutcome = requestRefusal(
  'store-unavailable',
  'a file of the store was replaced or removed while the service runs; nothing was published',
)

/**
 * Rolls back a failed commit. After a full disk, publishing resumes when there is room. Any other failure ends the
 * writer, because nobody knows what a failed fsync has written.
 */
function undo(
  { appender, isDiskFull, onBroken, onFull }: CommitFailureSettings & Readonly<{ appender: Appender }>,
  error: unknown,
  drafts: number,
): FailedOutcome {
  try {
    appender.rollback()
  } catch (cause) {
    onBroken(new Error('the store could not be rolled back', { cause }))
    return UNAVAILABLE
  }
  if (lacksRoom(error, COMMIT_BYTES + DRAFT_BYTES * drafts, isDiskFull)) {
    onFull()
    return FULL
  }
  const what = (codeOf(error) & 0xff) === SQLITE_IOERR ? 'the disk failed' : 'a commit failed'
  onBroken(new Error(what, { cause: error }))
  return UNAVAILABLE
}

const SQLITE_FULL = 13
const SQLITE_IOERR = 10
/** SQLite's code for a failed write, for example over a disk quota. */
const SQLITE_IOERR_WRITE = 778
/** Approximate most bytes of a commit: a fixed part, and a part for each draft. */
export const COMMIT_BYTES: number = 256 * 1024
const DRAFT_BYTES = 4 * 1024

/** Whether a SQLite error means that the disk lacks room for a commit of about so many bytes. */
export function lacksRoom(error: unknown, bytes: number, isDiskFull: (bytes: number) => boolean): boolean {
  const code = codeOf(error)
  return (code & 0xff) === SQLITE_FULL || (code === SQLITE_IOERR_WRITE && isDiskFull(bytes))
}

function codeOf(error: unknown): number {
  return error instanceof Error && 'errcode' in error ? Number(error.errcode) : 0
}
