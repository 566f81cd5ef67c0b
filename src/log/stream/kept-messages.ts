import type { DatabaseSync } from 'node:sqlite'
import { bytes as bytesIn, number } from '../store/codec.ts'

/** A kept message: its place in the stream of the store, and its bytes. */
type KeptMessage = Readonly<{ place: number; bytes: Uint8Array }>

/** Bytes of the newest messages that a store keeps, so that it can offer them again when the engine has lost them. */
const KEPT_BYTES_MAX: number = 64 * 1024 * 1024

/** The newest messages of the stream, in the table `messages`. Every change happens in the caller's transaction. */
type KeptMessages = Readonly<{
  /** Adds the next message, and removes the oldest ones beyond the limit. */
  add(message: KeptMessage): void
  /** Messages from a place on, in order. */
  from(place: number): readonly KeptMessage[]
  /** Removes all: another stream begins. */
  clear(): void
  /** Reads the table again, after a rollback. */
  reload(): void
}>

export function openKeptMessages(db: DatabaseSync, bytesMax: number = KEPT_BYTES_MAX): KeptMessages {
  const insert = db.prepare('INSERT INTO messages (place, bytes) VALUES (?, ?)')
  const remove = db.prepare('DELETE FROM messages WHERE place < ?')
  const select = db.prepare('SELECT place, bytes FROM messages WHERE place >= ? ORDER BY place')
  /** Bytes of each kept message, the oldest first, and of all. */
  let sizes: Readonly<{ place: number; size: number }>[] = []
  let total = 0
  /** Index of the oldest message that is still kept. */
  let oldest = 0

  function reload(): void {
    const rows = db.prepare('SELECT place, length(bytes) AS size FROM messages ORDER BY place').all()
    sizes = rows.map((row) => ({ place: number(row, 'place'), size: number(row, 'size') }))
    total = sizes.reduce((sum, { size }) => sum + size, 0)
    oldest = 0
  }

  /** Counts the oldest messages out until the rest fits. The newest one always stays. */
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
