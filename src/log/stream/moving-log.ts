import type { DatabaseSync } from 'node:sqlite'
import { StoreError } from '../store/store.ts'

const KEY = 'engine_moving'

/** Notes that the last message of a move may be on the engine: other nodes may publish then, and this one may not. */
export function noteMoving(db: DatabaseSync): void {
  db.prepare('INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)').run(KEY, '1')
}

/** Removes the note: the move has ended, or has failed before its last message. */
export function clearMoving(db: DatabaseSync): void {
  db.prepare('DELETE FROM meta WHERE key = ?').run(KEY)
}

/** Throws when a move was interrupted at its last message: another event in this store could be a fork. */
export function refuseMovingLog(db: DatabaseSync): void {
  if (db.prepare('SELECT 1 FROM meta WHERE key = ?').get(KEY) === undefined) return
  throw new StoreError(
    'a move of this log to an engine was interrupted at its end: run daybook cluster move again, with the same engine',
  )
}
