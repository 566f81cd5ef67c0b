import type { DatabaseSync } from 'node:sqlite'
import { readPosition } from '../stream/engine-position.ts'
import { bytes } from '../store/codec.ts'
import type { SealCause } from './message.ts'
import { decodeMessage } from './message-frame.ts'

/** The seal that a store has applied last: why its stream ended, the log, and the public key of the node that made it. */
type NewestSeal = Readonly<{ why: SealCause; logId: string; publicKey: Uint8Array }>

/** Reads the newest message of a store when it is a seal. Null when it is none, or when the log is on no engine. */
export function readSeal(db: DatabaseSync): NewestSeal | null {
  if (readPosition(db)?.place !== 0) return null
  const row = db.prepare('SELECT bytes FROM messages ORDER BY place DESC LIMIT 1').get()
  const decoded = row === undefined ? null : decodeMessage(bytes(row, 'bytes'))
  if (decoded === null || !decoded.ok || decoded.signed.message.is !== 'seal') return null
  const { message, publicKey } = decoded.signed
  return { why: message.why, logId: message.logId, publicKey }
}
