import type { DatabaseSync } from 'node:sqlite'
import { text } from '../store/codec.ts'
import { CARRIED } from '../store/identity-rows.ts'
import { StoreError } from '../store/store.ts'

const COUNT = /^(0|[1-9]\d{0,15})$/

/** The newest place that a store has of the machines that carry its log; null when its log is on this node alone. */
export function carriedPlace(db: DatabaseSync): number | null {
  const row = db.prepare('SELECT value FROM meta WHERE key = ?').get(CARRIED.place)
  if (row === undefined) return null
  const place = text(row, 'value')
  if (!COUNT.test(place))
    throw new StoreError('the place of the store in its table is damaged: restore the newest backup')
  return Number(place)
}

/** Throws when other machines carry the log: only a node that follows them may change it then. */
export function refuseCarriedLog(db: DatabaseSync): void {
  if (carriedPlace(db) === null) return
  throw new StoreError(
    'a table of PostgreSQL carries this log: serve it with --log-store, or take it off with daybook cluster move --back',
  )
}
