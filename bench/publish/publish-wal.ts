import { readFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

/** Bytes of the header, and of a frame before its page (file format of SQLite's write-ahead log). */
const HEADER_BYTES = 32
const FRAME_HEADER_BYTES = 24
const PAGE_BYTES_AT = 8
const SALT_AT = 16

/** Commits in a write-ahead log since its last reset. */
export type WalRound = Readonly<{
  /** Identifies this round. */
  salt: bigint
  frameBytes: number
  /** Page numbers that each commit wrote. */
  commits: readonly (readonly number[])[]
}>

/** Reads a write-ahead log. Only the last frame of a commit has the size of the store. */
export function readWal(path: string): WalRound {
  const log = readFileSync(path)
  const frameBytes = FRAME_HEADER_BYTES + log.readUInt32BE(PAGE_BYTES_AT)
  const salt = log.readBigUInt64BE(SALT_AT)
  const commits: number[][] = []
  let pages: number[] = []
  for (let at = HEADER_BYTES; at + frameBytes <= log.length; at += frameBytes) {
    // Older frames of the round before follow.
    if (log.readBigUInt64BE(at + 8) !== salt) break
    pages.push(log.readUInt32BE(at))
    if (log.readUInt32BE(at + 4) === 0) continue
    commits.push(pages)
    pages = []
  }
  return { salt, frameBytes, commits }
}

/** Returns a function that names the table or index of a page. */
export function pageNames(store: string): (page: number) => string {
  const db = new DatabaseSync(store, { readOnly: true })
  const rows = db.prepare('SELECT pageno, name FROM dbstat').all()
  db.close()
  const names = new Map(rows.map(({ pageno, name }) => [Number(pageno), String(name)]))
  return (page) => names.get(page) ?? 'free'
}

/** The pages of a commit as text: `events 2, refs 4`. */
export function shapeOf(pages: readonly number[], nameOf: (page: number) => string): string {
  const counts = new Map<string, number>()
  for (const name of pages.map(nameOf).toSorted()) counts.set(name, (counts.get(name) ?? 0) + 1)
  return [...counts].map(([name, count]) => `${name} ${count}`).join(', ')
}
