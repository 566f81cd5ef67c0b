import type { DatabaseSync } from 'node:sqlite'
import type { Hash } from '../../tlog/hash.ts'
import { text } from '../store/codec.ts'
import { StoreError } from '../store/store.ts'
import { HEX_HASH } from './engine-position.ts'

const KEY = 'engine_begin'

/**
 * Reads the SHA-256 of the first message of a store's stream. It tells two streams of one number apart: a log that is taken
 * off its engine and moved again begins with stream 1 again. Null when it is not known.
 */
export function readBeginning(db: DatabaseSync): Hash | null {
  const row = db.prepare('SELECT value FROM meta WHERE key = ?').get(KEY)
  if (row === undefined) return null
  const digest = text(row, 'value')
  if (!HEX_HASH.test(digest))
    throw new StoreError('the beginning of the stream in the store is damaged: restore the newest backup')
  return Buffer.from(digest, 'hex')
}

/** Writes it, or removes it, in the caller's transaction. */
export function writeBeginning(db: DatabaseSync, digest: Hash | null): void {
  if (digest === null) db.prepare('DELETE FROM meta WHERE key = ?').run(KEY)
  else
    db.prepare('INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)').run(
      KEY,
      Buffer.from(digest).toString('hex'),
    )
}
