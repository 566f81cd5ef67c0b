import { formatAmount, subtract } from '../protocol/amount.ts'
import { formatAt } from '../protocol/moment.ts'
import type { FlowBucket, FlowFigures, Flows } from '../protocol/resources.ts'
import { asOf, isSettledBefore, tokenPrice } from './as-of.ts'
import type { Books } from './books.ts'
import type { ResolvedRange } from './range.ts'
import { boundsOf, rangeWire } from './range.ts'
import type { Totals } from './tally.ts'

/**
 * What moved in each bucket: the difference of the totals at its two ends. The answer counts the events before
 * the end of its range and says so in `asOf`; it can never change when `isSettledBefore(head, range.toMs)`.
 */
export function flows(books: Books, range: ResolvedRange): Flows {
  const start = books.totalsBefore(range.fromMs)
  let before = start
  const buckets = boundsOf(range).map(({ fromMs, toMs }): FlowBucket => {
    const after = books.totalsBefore(toMs)
    const bucket = {
      at: formatAt(fromMs),
      atMs: fromMs,
      complete: isSettledBefore(books.head, toMs),
      ...moved(before.totals, after.totals),
      tokenPriceUsd: tokenPrice(after.totals),
    }
    before = after
    return bucket
  })
  return {
    asOf: asOf(before.head),
    ...rangeWire(range),
    buckets,
    totals: moved(start.totals, before.totals),
  }
}

function moved(before: Totals, after: Totals): FlowFigures {
  const difference = (figure: keyof FlowFigures): string =>
    formatAmount(subtract(after.amount(figure), before.amount(figure)))
  return {
    spentOnPlay: difference('spentOnPlay'),
    paidInPrizes: difference('paidInPrizes'),
    burned: difference('burned'),
  }
}
