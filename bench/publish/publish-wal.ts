import { readFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

/** Bytes before the first frame, and of a frame before its page (the file format of SQLite's write-ahead log). */
const HEADER_BYTES = 32
const FRAME_HEADER_BYTES = 24
const PAGE_BYTES_AT = 8
const SALT_AT = 16

/** The commits of a write-ahead log since it was begun from its start the last time. */
export type WalRound = Readonly<{
  /** Tells this round from others. */
  salt: bigint
  frameBytes: number
  /** Of each commit the pages that it wrote, by number. */
  commits: readonly (readonly number[])[]
}>

/** Reads a write-ahead log: a commit's last frame says how large the store is, the others say nothing there. */
export function readWal(path: string): WalRound {
  const log = readFileSync(path)
  const frameBytes = FRAME_HEADER_BYTES + log.readUInt32BE(PAGE_BYTES_AT)
  const salt = log.readBigUInt64BE(SALT_AT)
  const commits: number[][] = []
  let pages: number[] = []
  for (let at = HEADER_BYTES; at + frameBytes <= log.length; at += frameBytes) {
    // Frames of an earlier round follow those of this one.
    if (log.readBigUInt64BE(at + 8) !== salt) break
    pages.push(log.readUInt32BE(at))
    if (log.readUInt32BE(at + 4) === 0) continue
    commits.push(pages)
    pages = []
  }
  return { salt, frameBytes, commits }
}

/** Tells which table or index each page of a store belongs to. */
export function pageNames(store: string): (page: number) => string {
  const db = new DatabaseSync(store, { readOnly: true })
  const rows = db.prepare('SELECT pageno, name FROM dbstat').all()
  db.close()
  const names = new Map(rows.map(({ pageno, name }) => [Number(pageno), String(name)]))
  return (page) => names.get(page) ?? 'free'
}

/** The pages of a commit in words: `events 2, refs 4`. */
export function shapeOf(pages: readonly number[], nameOf: (page: number) => string): string {
  const counts = new Map<string, number>()
  for (const name of pages.map(nameOf).toSorted()) counts.set(name, (counts.get(name) ?? 0) + 1)
  return [...counts].map(([name, count]) => `${name} ${count}`).join(', ')
}
