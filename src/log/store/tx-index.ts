import { hash } from 'node:crypto'

/** Hex digits of SHA-256 in a key: as many as a safe integer holds. */
const KEY_DIGITS = 12

/**
 * Index key of a transaction in `tx_events`. Keys can collide, so a look-up also compares the end of the event's line.
 */
export function txKey(tx: string): number {
  return Number.parseInt(hash('sha256', tx).slice(0, KEY_DIGITS), 16)
}

/** The end of the line of every event that names the transaction. No chain's ids need escaping in JSON. */
export function lineEndOf(tx: string): string {
  return `"tx":"${tx}"}`
}
