import type { DatabaseSync } from 'node:sqlite'
import { text } from '../store/codec.ts'

const KEY = 'chain-id'

/** Genesis hash or chain id of the blockchain that has settled drafts of this log; null before the first one. */
export function readChainId(db: DatabaseSync): string | null {
  const row = db.prepare('SELECT value FROM meta WHERE key = ?').get(KEY)
  return row === undefined ? null : text(row, 'value')
}

/** Keeps the id of the blockchain of this log, in the caller's transaction or one of its own. */
export function writeChainId(db: DatabaseSync, id: string): void {
  db.prepare('INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)').run(KEY, id)
}
