import type { Amount } from '../../protocol/amount.ts'
import { formatAmount, subtract } from '../../protocol/amount.ts'
import { assert } from '../../protocol/brand.ts'
import { formatAt } from '../../protocol/moment.ts'
import type { FlowBucket, FlowFigures, Flows } from '../../protocol/resources.ts'
import { asOf, isSettledBefore, tokenPrice } from './as-of.ts'
import type { Books } from '../fold/books.ts'
import type { ResolvedRange } from './range.ts'
import { boundsOf, rangeWire } from './range.ts'
import type { Totals } from '../fold/tally.ts'

/**
 * What moved in each bucket: the difference of the totals at its two ends. The answer counts the events before
 * the end of its range and says so in `asOf`; it can never change when `isSettledBefore(head, range.toMs)`.
 */
export function flows(books: Books, range: ResolvedRange): Flows {
  const spans = boundsOf(range)
  const [first, ...ends] = books.totalsBeforeEach([range.fromMs, ...spans.map(({ toMs }) => toMs)])
  assert(first !== undefined, 'a range has a beginning')
  const start = reached(first.totals)
  let end = first
  let before = start
  const buckets = spans.map(({ fromMs, toMs }, index): FlowBucket => {
    end = ends[index] ?? end
    const after = reached(end.totals)
    const { spentOnPlay, paidInPrizes, burned } = moved(before, after)
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
  return { asOf: asOf(end.head()), ...rangeWire(range), buckets, totals: moved(start, before) }
}

/** What had moved by a moment: each bound is the end of one bucket and the start of the next, and is read once. */
type Reached = Readonly<Record<keyof FlowFigures, Amount>>

function reached(totals: Totals): Reached {
  return {
    spentOnPlay: totals.amount('spentOnPlay'),
    paidInPrizes: totals.amount('paidInPrizes'),
    burned: totals.amount('burned'),
  }
}

function moved(before: Reached, after: Reached): FlowFigures {
  return {
    spentOnPlay: formatAmount(subtract(after.spentOnPlay, before.spentOnPlay)),
    paidInPrizes: formatAmount(subtract(after.paidInPrizes, before.paidInPrizes)),
    burned: formatAmount(subtract(after.burned, before.burned)),
  }
}
