import { boundOf, formatAt, type Ms } from '../../protocol/moment.ts'
import type { Problem } from '../../protocol/problem.ts'
import type { Summary } from '../../protocol/endpoints/figure-endpoints.ts'
import { asOf, figureAmount, presentOf, tokenPrice, toCount } from './as-of.ts'
import type { Books, Head } from '../fold/books.ts'

/** Headline figures of all events, or of events with `at` up to a given moment. */
export function summary(books: Books, at: Ms | null): Summary {
  const { seq, head, totals } = at === null ? books.totals() : books.totalsBefore(justAfter(at))
  const number = (figure: Parameters<typeof totals.figure>[0]): number => toCount(totals.figure(figure))
  return {
    asOf: asOf(head()),
    contests: {
      upcoming: number('upcoming'),
      running: number('running'),
      paying: number('paying'),
      paid: number('paid'),
    },
    entries: number('entries'),
    plays: number('plays'),
    events: seq,
    payouts: number('payouts'),
    spentOnPlay: figureAmount(totals, 'spentOnPlay'),
    paidInPrizes: figureAmount(totals, 'paidInPrizes'),
    paidInLoyalty: figureAmount(totals, 'paidInLoyalty'),
    burned: figureAmount(totals, 'burned'),
    runningPools: figureAmount(totals, 'runningPools'),
    prizesNotRedeemed: figureAmount(totals, 'prizesNotRedeemed'),
    treasury: figureAmount(totals, 'treasury'),
    loyaltyFund: figureAmount(totals, 'loyaltyFund'),
    tokenPriceUsd: tokenPrice(totals),
    deposited: figureAmount(totals, 'deposited'),
    sponsored: figureAmount(totals, 'sponsored'),
    refunded: figureAmount(totals, 'refunded'),
    withdrawn: figureAmount(totals, 'withdrawn'),
    expired: figureAmount(totals, 'expired'),
  }
}

/** Problem of a requested moment that is later than both the clock and the head. */
export function momentProblem(at: Ms, clock: Ms, head: Head): Problem | undefined {
  if (at <= presentOf(head, clock)) return undefined
  const newest =
    head.atMs === null ? 'The log has no event yet.' : `The newest event is of ${minuteOf(head.atMs)}.`
  const detail = `${newest} Choose an earlier moment.`
  return { code: 'in-the-future', detail, errors: [{ parameter: 'at', message: detail }] }
}

/** Minute of a moment for a sentence, `2026-11-28 02:11 UTC`. */
function minuteOf(ms: Ms): string {
  return `${formatAt(ms).slice(0, 16).replace('T', ' ')} UTC`
}

/** Moment before which all events up to `at` are. */
export function justAfter(at: Ms): Ms {
  return boundOf(at + 1)
}
