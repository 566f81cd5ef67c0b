import { assert } from '../../protocol/brand.ts'
import { formatAt } from '../../protocol/moment.ts'
import type { FundFigures, Funds } from '../../protocol/endpoints/figure-endpoints.ts'
import { figureAmount, asOf, isSettledBefore } from './as-of.ts'
import type { LogTotals } from '../fold/books.ts'
import { boundsOf, nowWire, type ResolvedRange, spanWire } from './range.ts'
import type { Totals } from '../fold/tally.ts'

/** Balances of the funds, now and at the end of each bucket. `now` is at the head, so every event changes the answer. */
export function funds(books: LogTotals, range: ResolvedRange): Funds {
  const bounds = boundsOf(range)
  const ends = bounds.slice(1)
  const totals = books.totalsBeforeEach(ends)
  return {
    asOf: asOf(books.head),
    now: { ...(nowWire(range) ?? NO_MOMENT), ...levels(books.totals().totals) },
    ...spanWire(books, range),
    bucket: range.bucket,
    buckets: ends.map((toMs, index) => {
      const [fromMs, end] = [bounds[index], totals[index]]
      assert(fromMs !== undefined && end !== undefined, 'a bucket has a start, and totals at its end')
      return {
        at: formatAt(fromMs),
        atMs: fromMs,
        complete: isSettledBefore(books.head, toMs),
        ...levels(end.totals),
      }
    }),
  }
}

const NO_MOMENT = { at: null, atMs: null }

function levels(totals: Totals): FundFigures {
  return {
    treasury: figureAmount(totals, 'treasury'),
    runningPools: figureAmount(totals, 'runningPools'),
    loyaltyFund: figureAmount(totals, 'loyaltyFund'),
    prizesNotRedeemed: figureAmount(totals, 'prizesNotRedeemed'),
  }
}
