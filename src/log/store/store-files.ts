import { closeSync, openSync, readSync, rmSync, statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

/** Suffixes of the files that SQLite makes beside a store. */
const COMPANIONS = ['-wal', '-shm', '-journal'] as const
/** Suffix of a store that `createStore` has not finished. */
export const MAKING = '.making'

/** Removes a store, its companion files, and an unfinished store of the same name. Missing files are ignored. */
export function removeStore(path: string): void {
  for (const file of [path, `${path}${MAKING}`]) {
    rmSync(file, { force: true })
    removeCompanions(file)
  }
}

/** Removes the companion files of a store. Events that are only in its write-ahead log are lost. */
export function removeCompanions(path: string): void {
  for (const suffix of COMPANIONS) rmSync(`${path}${suffix}`, { force: true })
}

/** Path of the non-empty write-ahead log or rollback journal of a store; undefined when there is none. */
export function journalBeside(path: string): string | undefined {
  const journals = [`${path}-wal`, `${path}-journal`]
  return journals.find((file) => (statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0)
}

/** Offset of the byte in a SQLite file that says whether it uses a write-ahead log (2) or not (1). */
const WRITE_VERSION_AT = 18
const NO_WAL = 1

/**
 * Whether a SQLite file uses no write-ahead log. No connection of this process may be open on the file, because closing
 * it here ends all its locks on the file. A program with an older SQLite could then remove the write-ahead log of a
 * running service, and later commits would be lost.
 */
export function hasNoWal(path: string): boolean {
  const header = new Uint8Array(WRITE_VERSION_AT + 1)
  const file = openSync(path, 'r')
  try {
    readSync(file, header)
  } finally {
    closeSync(file)
  }
  return header[WRITE_VERSION_AT] === NO_WAL
}

const LOCKED_MS_MAX = 5_000

/**
 * Rolls back the journal of an interrupted transaction, which only a writing connection may do. The first start after a
 * restore makes a journal when it gives the backup a write-ahead log. A power cut may leave it.
 */
export function rollBackLeft(path: string): void {
  if ((statSync(`${path}-journal`, { throwIfNoEntry: false })?.size ?? 0) === 0) return
  using db = new DatabaseSync(path, { timeout: LOCKED_MS_MAX })
  db.prepare('PRAGMA user_version').get()
}
