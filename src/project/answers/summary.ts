import { boundOf, formatAt, type Ms } from '../../protocol/moment.ts'
import { type Parsed, parsed, refused } from '../../protocol/problem.ts'
import type { Summary } from '../../protocol/endpoints/figure-endpoints.ts'
import { figureAmount, asOf, toCount, isSettledBefore, presentOf, tokenPrice } from './as-of.ts'
import type { AsOfTotals, Books, Head } from '../fold/books.ts'

/**
 * Headline figures of all events, or of events with `at` up to a given moment. Refused when the moment is later than both
 * the present millisecond and the head.
 */
export function summary(books: Books, at: Ms | null, now: Ms): Parsed<Summary> {
  const moment = resolveMoment(at, now, books.head)
  if (!moment.ok) return moment
  return parsed(headlines(at === null ? books.totals() : books.totalsBefore(justAfter(at))))
}

/** Checks the requested moment, null for the present. Refused when it is in the future. */
export function resolveMoment(at: Ms | null, now: Ms, head: Head): Parsed<Ms | null> {
  if (at === null || at <= presentOf(head, now)) return parsed(at)
  const newest =
    head.atMs === null ? 'The log has no event yet.' : `The newest event is of ${minuteOf(head.atMs)}.`
  const detail = `${newest} Choose an earlier moment.`
  return refused({ code: 'in-the-future', detail, errors: [{ parameter: 'at', message: detail }] })
}

/** Minute of a moment for a sentence, `2026-11-28 02:11 UTC`. */
function minuteOf(ms: Ms): string {
  return `${formatAt(ms).slice(0, 16).replace('T', ' ')} UTC`
}

/** Whether the summary at this moment can never change. False for the present (null). */
export function isSummarySettled(head: Head, at: Ms | null): boolean {
  return at !== null && isSettledBefore(head, justAfter(at))
}

function justAfter(at: Ms): Ms {
  return boundOf(at + 1)
}

function headlines({ seq, head, totals }: AsOfTotals): Summary {
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
  }
}
