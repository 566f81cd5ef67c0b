import { closeSync, openSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { makeFolderDurably } from './durable-rename.ts'
import { giveOwner } from './file-owner.ts'
import { isBusy } from './sqlite-error.ts'

/** Thrown when another process uses the data directory. */
export class LockedError extends Error {
  override readonly name = 'LockedError'
}

/**
 * Locks a data directory for this process. The lock is a file lock of the operating system, taken through SQLite, so it
 * ends with the process. Throws a LockedError when another process has it.
 */
export function lockDirectory(dataDirectory: string): Disposable {
  makeFolderDurably(dataDirectory)
  return lockFile(join(dataDirectory, LOCK_FILE), 'another process uses this data directory')
}

export const LOCK_FILE = 'lock'

/** Mode of a lock file. Any user who may read the file could lock it, and keep the lock from this process. */
const OWNER_ONLY = 0o600

/**
 * Longest wait for the lock, in milliseconds. SQLite takes it in steps. Without a wait, two processes that start
 * together could block each other at the first step.
 */
const LOCK_MS_MAX = 250

/**
 * Locks a file for this process, and creates an empty one if it is missing. `refusal` is the message of the
 * LockedError.
 */
export function lockFile(path: string, refusal: string): Disposable {
  makePrivate(path)
  const db = new DatabaseSync(path, { timeout: LOCK_MS_MAX })
  try {
    db.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
  } catch (cause) {
    db.close()
    if (!isBusy(cause)) throw cause
    throw new LockedError(refusal, { cause })
  }
  return { [Symbol.dispose]: () => db.close() }
}

/**
 * Creates a missing file for the owner of its folder. Does not open an existing one, because closing it would end the
 * locks of this process.
 */
function makePrivate(path: string): void {
  let made: number
  try {
    made = openSync(path, 'wx', OWNER_ONLY)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return
    throw error
  }
  try {
    giveOwner(made, dirname(path))
  } finally {
    closeSync(made)
  }
}
