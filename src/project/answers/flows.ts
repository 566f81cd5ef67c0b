import { formatAmount, subtract } from '../../protocol/amount.ts'
import { assert } from '../../protocol/brand.ts'
import { formatAt } from '../../protocol/moment.ts'
import type { FlowBucket, FlowFigures, Flows } from '../../protocol/endpoints/figure-endpoints.ts'
import { asOf, isSettledBefore, tokenPrice } from './as-of.ts'
import type { Books } from '../fold/books.ts'
import { boundsOf, nowWire, type ResolvedRange, spanWire } from './range.ts'
import type { Totals } from '../fold/tally.ts'

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
        ...flowBetween(before.totals, after.totals),
        tokenPriceUsd: tokenPrice(after.totals),
      })
    before = after
  }
  return {
    asOf: asOf(last.head()),
    now: nowWire(range),
    ...spanWire(books, range),
    bucket: range.bucket,
    buckets,
    totals: flowBetween(first.totals, last.totals),
  }
}

function flowBetween(before: Totals, after: Totals): FlowFigures {
  return {
    spentOnPlay: amountBetween(before, after, 'spentOnPlay'),
    paidInPrizes: amountBetween(before, after, 'paidInPrizes'),
    burned: amountBetween(before, after, 'burned'),
  }
}

function amountBetween(before: Totals, after: Totals, figure: keyof FlowFigures): string {
  return formatAmount(subtract(after.amount(figure), before.amount(figure)))
}
