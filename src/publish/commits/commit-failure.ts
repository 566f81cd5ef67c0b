import type { Appender } from '../../log/append.ts'
import { doorRefusal, type FailedOutcome } from '../admission/outcome.ts'

/** Reports of failed commits, and a probe of the disk. */
export type CommitFailureSettings = Readonly<{
  /** Whether the disk has no room for about so many bytes. */
  isDiskFull(bytes: number): boolean
  /** Called when a commit was refused because the disk is full. */
  onFull(): void
  /** Called after a failure that makes the store unusable for this process. */
  onBroken(error: Error): void
}>

/** Refuses everything after a failure that makes the store unusable for this process. */
export const UNAVAILABLE: FailedOutcome = doorRefusal('store-unavailable', 'the store does not accept events')

/** Refuses a commit for which the disk has no room. */
export const FULL: FailedOutcome = doorRefusal('store-full', 'the disk is full; nothing was published')

export const WRONG_CLOCK: FailedOutcome = doorRefusal(
  'clock',
  'the clock of the machine is wrong by a minute or more; nothing was published',
)

/** Refuses everything after a file of the store was replaced or removed: its events would be lost at the next start. */
export const REPLACED: FailedOutcome = doorRefusal(
  'store-unavailable',
  'a file of the store was replaced or removed while the service runs; nothing was published',
)

const SQLITE_FULL = 13
const SQLITE_IOERR = 10
/** SQLite's code for a failed write, among other causes over a disk quota. */
const SQLITE_IOERR_WRITE = 778
/** Bytes that a commit writes, roughly and at most: a fixed part, and a part for each draft. */
const COMMIT_BYTES = 256 * 1024
const DRAFT_BYTES = 4 * 1024

/**
 * Rolls a failed commit back. When the disk is full, publishing resumes once there is room. Any other failure ends the
 * writer, because it is unknown what a failed fsync has written.
 */
export function afterFailure(
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
  if (lacksRoom(error, drafts, isDiskFull)) {
    onFull()
    return FULL
  }
  const what = (codeOf(error) & 0xff) === SQLITE_IOERR ? 'the disk failed' : 'a commit failed'
  onBroken(new Error(what, { cause: error }))
  return UNAVAILABLE
}

/** Whether an error of SQLite means that the disk has no room for a commit of so many drafts. */
export function lacksRoom(error: unknown, drafts: number, isDiskFull: (bytes: number) => boolean): boolean {
  const code = codeOf(error)
  const bytes = COMMIT_BYTES + DRAFT_BYTES * drafts
  return (code & 0xff) === SQLITE_FULL || (code === SQLITE_IOERR_WRITE && isDiskFull(bytes))
}

function codeOf(error: unknown): number {
  return error instanceof Error && 'errcode' in error ? Number(error.errcode) : 0
}
