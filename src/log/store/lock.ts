import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/** The data directory is in the hands of another process. */
export class LockedError extends Error {
  override readonly name = 'LockedError'
}

/**
 * Takes a data directory for this process. The lock is the operating system's on a file of its own, taken
 * through SQLite: it is gone when the process is, however it ends. Throws LockedError when another holds it.
 */
export function lockDirectory(dataDirectory: string): Disposable {
  mkdirSync(dataDirectory, { recursive: true })
  const db = new DatabaseSync(join(dataDirectory, 'lock'), { timeout: 0 })
  try {
    db.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
  } catch (cause) {
    db.close()
    if (!isBusy(cause)) throw cause
    throw new LockedError('another process works on this data directory', { cause })
  }
  return { [Symbol.dispose]: () => db.close() }
}

const SQLITE_BUSY = 5

/** Whether SQLite refused because another connection holds a lock. */
export function isBusy(cause: unknown): boolean {
  return cause instanceof Error && 'errcode' in cause && (Number(cause.errcode) & 0xff) === SQLITE_BUSY
}
