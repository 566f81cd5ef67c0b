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

/** A user who may read the file may also lock it, and then this process gets no lock. */
const OWNER_ONLY = 0o600

/**
 * Longest wait for the lock, in milliseconds. SQLite takes it in steps: two that ask at the same moment would each find the
 * other at its first step, and neither would get it.
 */
const LOCK_MS_MAX = 250

/** Locks a file for this process, and makes it empty if it is missing. `refusal` is the message of the LockedError. */
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
 * Makes a missing file, for the owner of its folder. An existing one is not opened: to close it would end the locks that
 * this process has.
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
