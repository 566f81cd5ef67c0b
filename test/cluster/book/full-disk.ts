import type { DatabaseSync } from 'node:sqlite'

const PAGES_MAX = 1_000_000_000

/** Lets a store grow no further, as a full disk does, or lets it grow again. */
export function setDiskFull(db: DatabaseSync, isFull: boolean): void {
  const pages = Number(db.prepare('PRAGMA page_count').get()?.['page_count'])
  db.exec(`PRAGMA max_page_count = ${isFull ? pages : PAGES_MAX}`)
}
