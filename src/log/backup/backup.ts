import { closeSync, existsSync, openSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { backup, DatabaseSync } from 'node:sqlite'
import { renameDurably } from '../store/durable-rename.ts'
import { giveOwner } from '../store/file-owner.ts'
import { LockedError } from '../store/lock.ts'
import { isBusy } from '../store/sqlite-error.ts'
import { openForReading, StoreError } from '../store/store.ts'
import { removeStore } from '../store/store-files.ts'

/** Pages copied in one step. The service can write between steps. */
const PAGES_A_STEP = 2_000
const OWNER_ONLY = 0o600

/** Size of a finished copy. */
type Copied = Readonly<{ events: number; bytes: number }>

/**
 * Copies a store as of one moment, while it is served and written. The copy gets its name when it is complete, has
 * passed `verify` and is on the disk. Only its owner may read it, because it contains the operator's refs. `verify`
 * gets the path of the complete copy, and throws when the copy is wrong.
 */
export async function backupStore(
  store: string,
  to: string,
  onProgress: (pagesLeft: number, pagesTotal: number) => void,
  verify: (copy: string) => void | Promise<void> = () => undefined,
): Promise<Copied> {
  const partial = `${to}.partial`
  return withCopy(
    partial,
    () => openForReading(store),
    onProgress,
    async (copied) => {
      await verify(partial)
      renameDurably(partial, to)
      return copied
    },
  )
}

/**
 * Copies an open store to the file `partial`, checks its pages, and calls `use`, which may rename the file. Only the
 * owner may read it; for root, the owner of the folder. Removes the file unless `use` has renamed it.
 */
export async function withCopy<T>(
  partial: string,
  open: () => DatabaseSync,
  onProgress: (pagesLeft: number, pagesTotal: number) => void,
  use: (copied: Copied) => T | Promise<T>,
): Promise<T> {
  claim(partial)
  try {
    await copyTo(partial, open(), onProgress)
    return await use({ events: finish(partial), bytes: statSync(partial).size })
  } finally {
    removeStore(partial)
  }
}

/** Creates the empty file for the copy. Removes the file of a backup that was killed. */
function claim(partial: string): void {
  if (existsSync(partial)) {
    refuseWritten(partial)
    removeStore(partial)
  }
  // SQLite keeps the mode of an existing file and gives it to its other files.
  const made = openSync(partial, 'wx', OWNER_ONLY)
  try {
    giveOwner(made, dirname(partial))
  } finally {
    closeSync(made)
  }
}

/** Throws a LockedError when another backup is writing this file. A running backup locks it through SQLite. */
function refuseWritten(partial: string): void {
  const db = new DatabaseSync(partial, { timeout: 0 })
  try {
    db.exec('BEGIN EXCLUSIVE')
  } catch (cause) {
    if (isBusy(cause)) throw new LockedError(`another backup is writing ${partial}`, { cause })
    // Any other error means that the file is not a database, so it can be removed.
  } finally {
    db.close()
  }
}

async function copyTo(
  partial: string,
  db: DatabaseSync,
  onProgress: (pagesLeft: number, pagesTotal: number) => void,
): Promise<void> {
  try {
    // Keeps all steps in one transaction, because SQLite otherwise restarts the copy after every commit. The
    // write-ahead log cannot be reset until the transaction ends, and grows with each commit.
    db.exec('BEGIN; SELECT key FROM meta')
    await backup(db, partial, {
      rate: PAGES_A_STEP,
      progress: ({ remainingPages, totalPages }) => onProgress(remainingPages, totalPages),
    })
  } finally {
    db.close()
  }
}

/** Makes the copy a single file and checks it. Returns its number of events. */
function finish(partial: string): number {
  const copy = new DatabaseSync(partial)
  try {
    // Without write-ahead log the copy is one file.
    copy.exec('PRAGMA journal_mode = DELETE')
    const found = copy.prepare('PRAGMA quick_check').get()?.['quick_check']
    if (found !== 'ok') throw new StoreError(`the copy is damaged: ${String(found)}`)
    return Number(copy.prepare('SELECT coalesce(max(seq), 0) AS seq FROM events').get()?.['seq'])
  } finally {
    copy.close()
  }
}
