import type { DatabaseSync } from 'node:sqlite'
import { text } from '../store/codec.ts'
import { CARRIED } from '../store/identity-rows.ts'
import { StoreError } from '../store/store.ts'

const COUNT = /^(0|[1-9]\d{0,15})$/

/** Newest place of a store in the shared books of its log; null when no other machine carries the log. */
export function carriedPlace(db: DatabaseSync): number | null {
  const row = db.prepare('SELECT value FROM meta WHERE key = ?').get(CARRIED.place)
  if (row === undefined) return null
  const place = text(row, 'value')
  if (!COUNT.test(place))
    throw new StoreError('the place of the store in its table is damaged: restore the newest backup')
  return Number(place)
}

/** Throws when other machines carry the log, because only a node that follows them may change it. */
export function refuseCarriedLog(db: DatabaseSync): void {
  if (carriedPlace(db) === null) return
  throw new StoreError(
    'a table of PostgreSQL carries this log: serve it with --log-store, or take it off with daybook cluster move --back',
  )
}
