import type { DatabaseSync } from 'node:sqlite'
import { bytes } from '../store/codec.ts'
import { readPosition } from '../stream/engine-position.ts'
import type { MessageBody } from './message.ts'
import { decodeMessage } from './message-frame.ts'

/** Whether messages of a move must follow this one. */
export function isMovePart(message: MessageBody): boolean {
  return (message.is === 'genesis' && message.moving) || (message.is === 'commit' && message.moved !== null)
}

/** Whether the newest message in a store is part of a move that has not ended. */
export function readMoving(db: DatabaseSync): boolean {
  if ((readPosition(db)?.place ?? 0) === 0) return false
  const row = db.prepare('SELECT bytes FROM messages ORDER BY place DESC LIMIT 1').get()
  const decoded = row === undefined ? null : decodeMessage(bytes(row, 'bytes'))
  return decoded?.ok === true && isMovePart(decoded.signed.message)
}
