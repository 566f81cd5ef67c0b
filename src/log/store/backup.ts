import { closeSync, existsSync, openSync, rmSync } from 'node:fs'
import { backup, DatabaseSync } from 'node:sqlite'
import { renameDurably } from './durable-rename.ts'
import { isBusy, LockedError } from './lock.ts'
import { openForReading, StoreError } from './store.ts'

/** Pages copied between two steps: the service writes on meanwhile. */
const PAGES_A_STEP = 2_000
const OWNER_ONLY = 0o600

/**
 * Copies a store as it stands at one moment, while it is served and written. The copy is whole and on the disk
 * under its name, or nothing has that name. It may be read by its owner only: it holds the operator's refs.
 */
export async function backupStore(
  store: string,
  to: string,
  onProgress: (pagesLeft: number, pagesTotal: number) => void,
): Promise<Readonly<{ events: number }>> {
  const partial = `${to}.partial`
  claim(partial)
  try {
    await copyTo(partial, store, onProgress)
    const events = finish(partial)
    renameDurably(partial, to)
    return { events }
  } finally {
    remove(partial)
  }
}

/** Makes the empty file that the copy grows in. What a killed backup has left there is removed. */
function claim(partial: string): void {
  if (existsSync(partial)) {
    refuseWritten(partial)
    remove(partial)
  }
  // SQLite keeps the mode of a file that is there, and gives it to what it lays beside it.
  closeSync(openSync(partial, 'wx', OWNER_ONLY))
}

/** Throws a LockedError while another backup writes this file: it holds SQLite's lock on it until it ends. */
function refuseWritten(partial: string): void {
  const db = new DatabaseSync(partial, { timeout: 0 })
  try {
    db.exec('BEGIN EXCLUSIVE')
  } catch (cause) {
    if (isBusy(cause)) throw new LockedError(`another backup writes ${partial}`, { cause })
    // No part of a store: it is removed with no more ado.
  } finally {
    db.close()
  }
}

async function copyTo(
  partial: string,
  store: string,
  onProgress: (pagesLeft: number, pagesTotal: number) => void,
): Promise<void> {
  const db = openForReading(store)
  try {
    // Without a transaction each step reads the newest state, and SQLite begins the copy anew after every commit.
    // With it all steps read one state. The write-ahead log cannot begin anew until the transaction ends: it grows
    // by what is published meanwhile.
    db.exec('BEGIN; SELECT key FROM meta')
    await backup(db, partial, {
      rate: PAGES_A_STEP,
      progress: ({ remainingPages, totalPages }) => onProgress(remainingPages, totalPages),
    })
  } finally {
    db.close()
  }
}

/** Makes the copy one file and looks through it; how many events it holds. */
function finish(partial: string): number {
  const copy = new DatabaseSync(partial)
  try {
    // One file is easier to keep than three: the copy leaves the write-ahead log behind.
    copy.exec('PRAGMA journal_mode = DELETE')
    const found = copy.prepare('PRAGMA quick_check').get()?.['quick_check']
    if (found !== 'ok') throw new StoreError(`the copy is not whole: ${String(found)}`)
    return Number(copy.prepare('SELECT coalesce(max(seq), 0) AS seq FROM events').get()?.['seq'])
  } finally {
    copy.close()
  }
}

function remove(partial: string): void {
  for (const suffix of ['', '-journal', '-wal', '-shm']) rmSync(`${partial}${suffix}`, { force: true })
}
