import { formatAmount, formatPrice, trillionths } from '../../protocol/amount.ts'
import { assert } from '../../protocol/brand.ts'
import { formatAt, later, type Ms } from '../../protocol/moment.ts'
import type { AsOf } from '../../protocol/endpoints/resource-fields.ts'
import type { Head } from '../fold/books.ts'
import { type Figure, NO_PRICE, type Totals } from '../fold/tally.ts'

/** Last event that an answer counts, as the answer states it. */
export function asOf(head: Head): AsOf {
  return { seq: head.seq, at: atOf(head.atMs), atMs: head.atMs }
}

/**
 * Whether no further event before `end` can follow, because an event at or after `end` is published. The log decides
 * this, not the clock.
 */
export function isSettledBefore(head: Head, end: Ms): boolean {
  return head.atMs !== null && head.atMs >= end
}

/** The later of the clock and the head, so that a slow clock hides no published event. */
export function presentOf(head: Head, now: Ms): Ms {
  return head.atMs === null ? now : later(now, head.atMs)
}

/** Text of a moment that may be null. */
export function atOf(ms: Ms | null): string | null {
  return ms === null ? null : formatAt(ms)
}

/** Count as a plain number; throws beyond 2^53−1. */
export function toCount(value: bigint): number {
  const number = Number(value)
  assert(Number.isSafeInteger(number), `a count of ${value} exceeds 2^53−1`)
  return number
}

/** Sum of tokens as answers write it. */
export function figureAmount(totals: Totals, figure: Figure): string {
  return formatAmount(totals.amount(figure))
}

/** Last known token price as answers write it; null before the first price. */
export function tokenPrice(totals: Totals): string | null {
  const price = totals.figure('tokenPrice')
  return price === NO_PRICE ? null : formatPrice(trillionths(price))
}

/** Entries of a map in ascending order of keys, so that answers do not depend on the order of insertion. */
export function sortedByKey<Value>(map: ReadonlyMap<string, Value>): readonly (readonly [string, Value])[] {
  return [...map].toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
}
