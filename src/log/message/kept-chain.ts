import type { DatabaseSync } from 'node:sqlite'
import type { Hash } from '../../tlog/hash.ts'
import { isSame } from '../../tlog/hash.ts'
import { bytes, number } from '../store/codec.ts'
import { readIdentity } from '../store/store.ts'
import { readPosition } from '../stream/engine-position.ts'
import { decodeMessage, digestOfMessage } from './message-frame.ts'

/**
 * Fault text of the kept messages of a store whose log is on an engine: each must follow the one before it, and the newest
 * must be the one that the store names. Null when there is no fault, or no engine.
 */
export function faultOfMessages(db: DatabaseSync): string | null {
  const position = readPosition(db)
  if (position === null) return null
  const { id } = readIdentity(db)
  let before: Readonly<{ place: number; digest: Hash }> | null = null
  for (const row of db.prepare('SELECT place, bytes FROM messages ORDER BY place').iterate()) {
    const place = number(row, 'place')
    const decoded = decodeMessage(bytes(row, 'bytes'))
    if (!decoded.ok) return `messages: the one at place ${place} cannot be read: ${decoded.reason}`
    const { message } = decoded.signed
    if (message.place !== place || message.logId !== id)
      return `messages: the one at place ${place} is not of this log`
    if (before !== null && (before.place + 1 !== place || !isSame(before.digest, message.prev))) {
      return `messages: the one at place ${place} does not follow the one before it`
    }
    before = { place, digest: digestOfMessage(bytes(row, 'bytes')) }
  }
  if (before !== null && isSame(before.digest, position.digest)) return null
  return `messages: the newest is not that of place ${position.place}, which the store names`
}
