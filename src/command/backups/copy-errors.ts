import { LockedError } from '../../log/store/lock.ts'
import { isFull, isOfSqlite } from '../../log/store/sqlite-error.ts'
import { asPathError } from '../terminal/option-paths.ts'
import { shellQuoted } from '../terminal/output.ts'
import { CommandError } from '../terminal/world.ts'

/** Bytes of a write-ahead log that are no danger to a disk. */
const WAL_BYTES_HARMLESS: number = 64 * 1024 * 1024

export const WRITTEN_TOO_FAST =
  'no copy was made: while it was copied, the write-ahead log grew to more than what the disk has free. Copy when less is published, or free some space'

/**
 * Whether the write-ahead log may fill the disk before a copy ends. It cannot be emptied meanwhile, so a copy that goes
 * on could stop publishing.
 */
export function mayFillDisk(walBytes: number, freeBytes: number): boolean {
  return walBytes > WAL_BYTES_HARMLESS && freeBytes < walBytes
}

/** Words for a copy that failed, and the option whose path an error may name. */
type FailedCopy = Readonly<{ said: string; option: string; path: string }>

/** Error for the user. SQLite does not say which of the two files failed; only a full disk is surely that of the copy. */
export function asCopyError(error: unknown, { said, option, path }: FailedCopy): unknown {
  if (error instanceof LockedError) return new CommandError(1, error.message, { cause: error })
  if (!isOfSqlite(error)) return asPathError(error, option)
  const reason = isFull(error) ? `the disk of ${shellQuoted(path)} is full` : error.message
  return new CommandError(1, `${said}: ${reason}`, { cause: error })
}
