import type { DatabaseSync } from 'node:sqlite'
import { text } from '../../log/store/codec.ts'
import { CARRIED } from '../../log/store/identity-rows.ts'
import { StoreError } from '../../log/store/store.ts'
import type { NewestRow } from '../node/node-book.ts'

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

/** Removes the newest row, in the caller's transaction: the log is on no table then. */
export function clearTablePlace(db: DatabaseSync): void {
  const remove = db.prepare('DELETE FROM meta WHERE key = ?')
  for (const key of Object.values(CARRIED)) remove.run(key)
}
