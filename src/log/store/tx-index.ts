import { hash } from 'node:crypto'
import { canonicalTx } from '../../protocol/tx.ts'

/** Hex digits of SHA-256 in a key: 48 bits, which a safe integer holds. */
const KEY_DIGITS = 12

/**
 * Index key of a transaction in `tx_events`, the same for hex digits in either case. Keys can collide, so a look-up
 * also compares the end of the event's line.
 */
export function txKey(tx: string): number {
  return Number.parseInt(hash('sha256', canonicalTx(tx)).slice(0, KEY_DIGITS), 16)
}

/** Text that ends the line of each event with this transaction. Transaction ids need no escaping in JSON. */
export function lineEndOf(tx: string): string {
  return `"tx":"${tx}"}`
}
