import type { DatabaseSync } from 'node:sqlite'
import type { Hash } from '../../tlog/hash.ts'
import { text } from '../store/codec.ts'
import type { ServedMessage } from '../store/high-water.ts'
import { StoreError } from '../store/store.ts'
import { refuseMovingLog } from './moving-log.ts'

/**
 * The newest message in a store: its stream, its place, and the SHA-256 of its bytes. After the last message of a stream
 * it is place 0 of the next one, with the digest of that message.
 */
export type EnginePosition = Readonly<{ stream: number; place: number; digest: Hash }>

/** The newest message in a store, for its high-water mark. */
export function servedMessage({ stream, place, digest }: EnginePosition): ServedMessage {
  return { stream, place, digest: Buffer.from(digest).toString('hex') }
}

const KEYS = { stream: 'engine_stream', place: 'engine_place', digest: 'engine_digest' } as const
const COUNT = /^(0|[1-9]\d{0,15})$/
/** A SHA-256 digest in hex. */
export const HEX_HASH: RegExp = /^[0-9a-f]{64}$/

/** Reads the position of a store in its stream; null when its log is on no engine. */
export function readPosition(db: DatabaseSync): EnginePosition | null {
  const select = db.prepare('SELECT value FROM meta WHERE key = ?')
  const value = (key: string): string => {
    const row = select.get(key)
    return row === undefined ? '' : text(row, 'value')
  }
  const place = value(KEYS.place)
  if (place === '') return null
  const [stream, digest] = [value(KEYS.stream), value(KEYS.digest)]
  if (!COUNT.test(place) || !COUNT.test(stream) || !HEX_HASH.test(digest)) {
    throw new StoreError('the position of the store in its stream is damaged: restore the newest backup')
  }
  return { stream: Number(stream), place: Number(place), digest: Buffer.from(digest, 'hex') }
}

/** Writes the position, in the caller's transaction. */
export function writePosition(db: DatabaseSync, { stream, place, digest }: EnginePosition): void {
  const put = db.prepare('INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)')
  put.run(KEYS.stream, String(stream))
  put.run(KEYS.place, String(place))
  put.run(KEYS.digest, Buffer.from(digest).toString('hex'))
}

/** Removes the position, in the caller's transaction: the log is on no engine then. */
export function clearPosition(db: DatabaseSync): void {
  const remove = db.prepare('DELETE FROM meta WHERE key = ?')
  for (const key of Object.values(KEYS)) remove.run(key)
}

/** Throws when the log is on an engine, or may be: only `serve --log-store` may change it then. */
export function refuseEngineLog(db: DatabaseSync): void {
  refuseMovingLog(db)
  if (readPosition(db) === null) return
  throw new StoreError(
    'this log is on an engine: serve it with --log-store, or take it off with daybook cluster move --back',
  )
}
