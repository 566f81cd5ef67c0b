import { hash } from 'node:crypto'

/** As many hex digits of SHA-256 as an integer of JavaScript holds: short rows split few pages. */
const KEY_DIGITS = 12

/**
 * What the index `tx_events` has a transaction under. Others may have the same: whoever finds an event by it looks at
 * the end of its line, too.
 */
export function txKey(tx: string): number {
  return Number.parseInt(hash('sha256', tx).slice(0, KEY_DIGITS), 16)
}

/** How the line of an event that names the transaction ends, and no other: no chain writes what JSON would escape. */
export function lineEndOf(tx: string): string {
  return `"tx":"${tx}"}`
}
