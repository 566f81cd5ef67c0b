import { formatAmount, formatPrice, trillionths } from '../../protocol/amount.ts'
import { assert } from '../../protocol/brand.ts'
import type { Ms } from '../../protocol/moment.ts'
import { formatAt, later } from '../../protocol/moment.ts'
import type { AsOf } from '../../protocol/resources.ts'
import type { Head } from '../fold/books.ts'
import type { Figure, Totals } from '../fold/tally.ts'
import { NO_PRICE } from '../fold/tally.ts'

/** The last event that an answer counts, as every answer states it. */
export function asOf(head: Head): AsOf {
  return { seq: head.seq, at: atOf(head.atMs), atMs: head.atMs }
}

/**
 * Whether everything before `end` is settled: an event at or after `end` has been published, so no event can
 * come that lies before it. The log closes things, not the clock.
 */
export function isSettledBefore(head: Head, end: Ms): boolean {
  return head.atMs !== null && head.atMs >= end
}

/** The later of the clock and the head: a clock that has stepped back hides nothing that is published. */
export function presentOf(head: Head, now: Ms): Ms {
  return head.atMs === null ? now : later(now, head.atMs)
}

/** The written half of a moment that may be missing. */
export function atOf(ms: Ms | null): string | null {
  return ms === null ? null : formatAt(ms)
}

/** A figure that counts, as a plain number; throws past 2^53−1. */
export function toCount(value: bigint): number {
  const number = Number(value)
  assert(Number.isSafeInteger(number), `a count of ${value} is no safe integer`)
  return number
}

/** A figure that sums tokens, as it is written on the wire. */
export function figureAmount(totals: Totals, figure: Figure): string {
  return formatAmount(totals.amount(figure))
}

/** The last known price of the token, as it is written on the wire; null before the first. */
export function tokenPrice(totals: Totals): string | null {
  const price = totals.figure('tokenPrice')
  return price === NO_PRICE ? null : formatPrice(trillionths(price))
}
