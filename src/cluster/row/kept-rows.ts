import type { DatabaseSync } from 'node:sqlite'
import { bytes as bytesIn, number, text } from '../../log/store/codec.ts'
import type { TableRow } from '../table/log-table.ts'
import { CARRIED } from '../../log/store/identity-rows.ts'
import { StoreError } from '../../log/store/store.ts'
import type { NewestRow } from '../node/cluster-node.ts'

/** Most bytes of newest rows in a store, kept to be put back when the table has lost them. */
const KEPT_BYTES_MAX: number = 64 * 1024 * 1024

/**
 * Newest rows of the log's table, in the store's table `messages`. Every change happens in the caller's transaction.
 */
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

/** Opens the kept rows of a store: the newest ones up to a number of bytes, at least one. */
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

  /** Drops the oldest rows from the count until the rest fits. The newest one always stays. */
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

const COUNT = /^[1-9]\d{0,15}$/
const HEX_HASH = /^[0-9a-f]{64}$/

/** Reads the newest row in a store; null when its log is on no table. Throws a StoreError when it cannot be read. */
export function readTablePlace(db: DatabaseSync): NewestRow | null {
  const select = db.prepare('SELECT value FROM meta WHERE key = ?')
  const value = (key: string): string => {
    const row = select.get(key)
    return row === undefined ? '' : text(row, 'value')
  }
  const [place, digest] = [value(CARRIED.place), value(CARRIED.digest)]
  if (place === '' && digest === '') return null
  if (!COUNT.test(place) || !HEX_HASH.test(digest)) {
    throw new StoreError('the place of the store in its table is damaged: restore the newest backup')
  }
  return { place: Number(place), digest: Buffer.from(digest, 'hex') }
}

/** Writes the newest row, in the caller's transaction. */
export function writeTablePlace(db: DatabaseSync, { place, digest }: NewestRow): void {
  const put = db.prepare('INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)')
  put.run(CARRIED.place, String(place))
  put.run(CARRIED.digest, Buffer.from(digest).toString('hex'))
}

/** Removes the newest row, in the caller's transaction. Then the log is on no table. */
export function clearTablePlace(db: DatabaseSync): void {
  const remove = db.prepare('DELETE FROM meta WHERE key = ?')
  for (const key of Object.values(CARRIED)) remove.run(key)
}
