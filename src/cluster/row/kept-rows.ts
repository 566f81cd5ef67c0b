import type { DatabaseSync } from 'node:sqlite'
import { bytes as bytesIn, number } from '../../log/store/codec.ts'
import type { TableRow } from '../table/log-table.ts'

/** Bytes of the newest rows that a store keeps, so that it can put them back when the table has lost them. */
const KEPT_BYTES_MAX: number = 64 * 1024 * 1024

/** The newest rows of the log's table, in the store's table `messages`. Every change happens in the caller's transaction. */
type KeptRows = Readonly<{
  /** Adds the next row, and removes the oldest ones beyond the limit. */
  add(row: TableRow): void
  /** Rows from a place on, in order. */
  from(place: number): readonly TableRow[]
  /** Removes all: the log leaves its table. */
  clear(): void
  /** Reads the table again, after a rollback. */
  reload(): void
}>

/** Opens the kept rows of a store: the newest ones up to a number of bytes, and always the newest. */
export function openKeptRows(db: DatabaseSync, bytesMax: number = KEPT_BYTES_MAX): KeptRows {
  const insert = db.prepare('INSERT INTO messages (place, bytes) VALUES (?, ?)')
  const remove = db.prepare('DELETE FROM messages WHERE place < ?')
  const select = db.prepare('SELECT place, bytes FROM messages WHERE place >= ? ORDER BY place')
  /** Bytes of each kept row, the oldest first, and of all. */
  let sizes: Readonly<{ place: number; size: number }>[] = []
  let total = 0
  /** Index of the oldest row that is still kept. */
  let oldest = 0

  function reload(): void {
    const rows = db.prepare('SELECT place, length(bytes) AS size FROM messages ORDER BY place').all()
    sizes = rows.map((row) => ({ place: number(row, 'place'), size: number(row, 'size') }))
    total = sizes.reduce((sum, { size }) => sum + size, 0)
    oldest = 0
  }

  /** Counts the oldest rows out until the rest fits. The newest one always stays. */
  function makeRoom(): void {
    const before = oldest
    while (total > bytesMax && oldest < sizes.length - 1) {
      total -= sizes[oldest]?.size ?? 0
      oldest += 1
    }
    if (oldest > before) remove.run(sizes[oldest]?.place ?? 0)
    if (oldest > sizes.length / 2) {
      sizes = sizes.slice(oldest)
      oldest = 0
    }
  }

  reload()
  return {
    add({ place, bytes }) {
      insert.run(place, bytes)
      sizes.push({ place, size: bytes.length })
      total += bytes.length
      makeRoom()
    },
    from: (place) =>
      select.all(place).map((row) => ({ place: number(row, 'place'), bytes: bytesIn(row, 'bytes') })),
    clear() {
      db.exec('DELETE FROM messages')
      reload()
    },
    reload,
  }
}
