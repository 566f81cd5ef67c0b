import { type Amount, formatAmount, subtract } from '../../protocol/amount.ts'
import { assert } from '../../protocol/brand.ts'
import { formatAt } from '../../protocol/moment.ts'
import type { FlowBucket, FlowFigures, Flows } from '../../protocol/endpoints/figure-endpoints.ts'
import { asOf, isSettledBefore, tokenPrice } from './as-of.ts'
import type { Books } from '../fold/books.ts'
import { boundsOf, launchWire, nowWire, type ResolvedRange, spanWire } from './range.ts'
import type { Totals } from '../fold/tally.ts'

/**
 * Flows of each bucket: the differences of the totals at its ends. The answer counts the events before the end of its
 * range. It can never change once `isSettledBefore(head, range.toMs)`.
 */
export function flows(books: Books, range: ResolvedRange): Flows {
  const spans = boundsOf(range)
  const [first, ...ends] = books.totalsBeforeEach([range.fromMs, ...spans.map(({ toMs }) => toMs)])
  assert(first !== undefined, 'a range has a beginning')
  const start = totalsAtBound(first.totals)
  let end = first
  let before = start
  const buckets = spans.map(({ fromMs, toMs }, index): FlowBucket => {
    end = ends[index] ?? end
    const after = totalsAtBound(end.totals)
    const { spentOnPlay, paidInPrizes, burned } = flowBetween(before, after)
    before = after
    return {
      at: formatAt(fromMs),
      atMs: fromMs,
      complete: isSettledBefore(books.head, toMs),
      spentOnPlay,
      paidInPrizes,
      burned,
      tokenPriceUsd: tokenPrice(end.totals),
    }
  })
  return {
    asOf: asOf(end.head()),
    now: nowWire(range),
    ...launchWire(books),
    ...spanWire(range),
    bucket: range.bucket,
    buckets,
    totals: flowBetween(start, before),
  }
}

/** Running totals at a bound, which is the end of one bucket and the start of the next. */
type TotalsAtBound = Readonly<Record<keyof FlowFigures, Amount>>

function totalsAtBound(totals: Totals): TotalsAtBound {
  return {
    spentOnPlay: totals.amount('spentOnPlay'),
    paidInPrizes: totals.amount('paidInPrizes'),
    burned: totals.amount('burned'),
  }
}

function flowBetween(before: TotalsAtBound, after: TotalsAtBound): FlowFigures {
  return {
    spentOnPlay: formatAmount(subtract(after.spentOnPlay, before.spentOnPlay)),
    paidInPrizes: formatAmount(subtract(after.paidInPrizes, before.paidInPrizes)),
    burned: formatAmount(subtract(after.burned, before.burned)),
  }
}
