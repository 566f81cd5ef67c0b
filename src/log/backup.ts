import { rm } from 'node:fs/promises'
import { backup, DatabaseSync } from 'node:sqlite'
import { renameDurably } from './durable-rename.ts'
import { openForReading } from './store.ts'

/** Pages copied between two steps: the service writes on meanwhile. */
const PAGES_A_STEP = 2_000

/**
 * Copies a store as it stands at one moment, while it is served and written. The copy is whole and on the disk
 * under its name, or there is none.
 */
export async function backupStore(
  store: string,
  to: string,
  onProgress: (pagesLeft: number, pagesTotal: number) => void,
): Promise<Readonly<{ events: number }>> {
  const partial = `${to}.partial`
  await rm(partial, { force: true })
  const db = openForReading(store)
  try {
    await backup(db, partial, {
      rate: PAGES_A_STEP,
      progress: ({ remainingPages, totalPages }) => onProgress(remainingPages, totalPages),
    })
    const copy = new DatabaseSync(partial)
    // One file is easier to keep than three: the copy leaves the write-ahead log behind.
    copy.exec('PRAGMA journal_mode = DELETE')
    const found = copy.prepare('PRAGMA quick_check').get()?.['quick_check']
    const events = Number(copy.prepare('SELECT coalesce(max(seq), 0) AS seq FROM events').get()?.['seq'])
    copy.close()
    if (found !== 'ok') throw new Error(`the copy is not whole: ${String(found)}`)
    renameDurably(partial, to)
    return { events }
  } finally {
    db.close()
    await rm(partial, { force: true })
  }
}
