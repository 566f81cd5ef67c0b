import { formatAmount, subtract } from '../../protocol/amount.ts'
import { assert, recordOf } from '../../protocol/brand.ts'
import { formatAt } from '../../protocol/moment.ts'
import type { FlowBucket, FlowFigures, Flows } from '../../protocol/endpoints/figure-endpoints.ts'
import { asOf, isSettledBefore, tokenPrice } from './as-of.ts'
import type { Books } from '../fold/books.ts'
import { boundsOf, nowWire, type ResolvedRange, spanWire } from './range.ts'
import { KIND_FIGURES, type Totals } from '../fold/tally.ts'

/**
 * Flows of each bucket: the differences of the totals at its ends. Counts the events before the end of the range. The
 * answer can never change once `isSettledBefore(head, range.toMs)`.
 */
export function flows(books: Books, range: ResolvedRange): Flows {
  const bounds = boundsOf(range)
  const ends = books.totalsBeforeEach(bounds)
  const [first, last] = [ends[0], ends.at(-1)]
  assert(first !== undefined && last !== undefined, 'a range has a beginning and an end')
  const buckets: FlowBucket[] = []
  let before = first
  for (const [index, after] of ends.entries()) {
    const fromMs = bounds[index - 1]
    if (fromMs !== undefined)
      buckets.push({
        at: formatAt(fromMs),
        atMs: fromMs,
        complete: isSettledBefore(books.head, bounds[index] ?? range.toMs),
        ...flowsBetween(before.totals, after.totals, KIND_FIGURES),
        tokenPriceUsd: tokenPrice(after.totals),
        ...flowsBetween(before.totals, after.totals, FURTHER_FLOWS),
      })
    before = after
  }
  return {
    asOf: asOf(last.head()),
    now: nowWire(range),
    ...spanWire(books, range),
    bucket: range.bucket,
    buckets,
    totals: flowsBetween(first.totals, last.totals, [...KIND_FIGURES, ...FURTHER_FLOWS]),
  }
}

/** Flows that a bucket has after its price. */
const FURTHER_FLOWS = [
  'deposited',
  'sponsored',
  'refunded',
  'withdrawn',
  'expired',
  'paidInLoyalty',
] as const satisfies readonly (keyof FlowFigures)[]

function flowsBetween<Name extends keyof FlowFigures>(
  before: Totals,
  after: Totals,
  figures: readonly Name[],
): Record<Name, string> {
  return recordOf(figures, (figure) => formatAmount(subtract(after.amount(figure), before.amount(figure))))
}
