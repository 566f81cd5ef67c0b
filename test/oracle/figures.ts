import type { Summary } from '../../src/protocol/endpoints/figure-endpoints.ts'
import {
  asOf,
  count,
  decimal,
  type Effect,
  effects,
  knownAt,
  plays,
  price,
  type PublicEntry,
  type PublicEvent,
  sum,
} from './book.ts'
import { contestStatus } from './contests.ts'

type Question = (event: PublicEvent) => boolean

const typed =
  (type: string): Question =>
  (event) =>
    event.type === type

const named =
  (type: string, kind: string): Question =>
  (event) =>
    event.type === type && event.kind === kind

export const SPENT_ON_PLAY: Question = typed('play')
export const BURNED: Question = typed('burn')
export const PAID_IN_PRIZES: Question = (event) =>
  event.type === 'payout' && event.kind !== 'refund' && event.kind !== 'loyalty'
const PAID_IN_LOYALTY: Question = named('payout', 'loyalty')

/** Figures that add up events, without those above of every activity. */
const FURTHER_SUMS = {
  deposited: named('treasury', 'deposit'),
  sponsored: named('pool', 'sponsor'),
  refunded: named('payout', 'refund'),
  withdrawn: named('treasury', 'withdrawal'),
  expired: typed('expiry'),
  paidInLoyalty: PAID_IN_LOYALTY,
} as const

/** Sums of `FURTHER_SUMS`. */
export function furtherSums(all: readonly Effect[]): Record<keyof typeof FURTHER_SUMS, string> {
  const of = (name: keyof typeof FURTHER_SUMS): string => decimal(sum(all, FURTHER_SUMS[name]))
  return {
    deposited: of('deposited'),
    sponsored: of('sponsored'),
    refunded: of('refunded'),
    withdrawn: of('withdrawn'),
    expired: of('expired'),
    paidInLoyalty: of('paidInLoyalty'),
  }
}

/** Events that add to each fund and that take from it (specification, section 3, column "from to"). */
export const FUNDS: Readonly<
  Record<
    'treasury' | 'runningPools' | 'loyaltyFund' | 'prizesNotRedeemed',
    Readonly<{ in: Question; out: Question }>
  >
> = {
  treasury: {
    in: (event) =>
      event.type === 'play' ||
      event.type === 'expiry' ||
      named('pool', 'returned')(event) ||
      named('treasury', 'deposit')(event),
    out: (event) =>
      event.type === 'burn' ||
      (event.type === 'pool' && event.kind !== 'sponsor' && event.kind !== 'returned') ||
      named('loyalty', 'accrual')(event) ||
      named('treasury', 'withdrawal')(event),
  },
  runningPools: {
    in: (event) => event.type === 'pool' && event.kind !== 'returned',
    out: (event) =>
      event.type === 'prize' || named('payout', 'refund')(event) || named('pool', 'returned')(event),
  },
  loyaltyFund: { in: named('loyalty', 'accrual'), out: PAID_IN_LOYALTY },
  prizesNotRedeemed: {
    in: typed('prize'),
    out: (event) => PAID_IN_PRIZES(event) || event.type === 'expiry',
  },
}

/** Balance of a fund after all entries of the book. */
export function fund(book: readonly PublicEntry[], name: keyof typeof FUNDS): bigint {
  const all = effects(book)
  return sum(all, FUNDS[name].in) - sum(all, FUNDS[name].out)
}

/** `/summary?at=`: a fold of all entries up to that moment. */
export function summary(book: readonly PublicEntry[], atMs: number = Infinity): Summary {
  const known = knownAt(book, atMs)
  const all = effects(known)
  const contestIds = new Set<number>()
  for (const { event } of known) {
    if (event.type === 'contest' && event.contestId !== null) contestIds.add(event.contestId)
  }
  const contests = { upcoming: 0, running: 0, paying: 0, paid: 0 }
  for (const id of contestIds) contests[contestStatus(known, id)] += 1
  return {
    asOf: asOf(known),
    contests,
    entries: plays(all, (event) => event.kind === 'entry'),
    plays: plays(all, () => true),
    events: known.length,
    payouts: count(all, typed('payout')),
    spentOnPlay: decimal(sum(all, SPENT_ON_PLAY)),
    paidInPrizes: decimal(sum(all, PAID_IN_PRIZES)),
    burned: decimal(sum(all, BURNED)),
    ...furtherSums(all),
    runningPools: decimal(fund(known, 'runningPools')),
    prizesNotRedeemed: decimal(fund(known, 'prizesNotRedeemed')),
    treasury: decimal(fund(known, 'treasury')),
    loyaltyFund: decimal(fund(known, 'loyaltyFund')),
    tokenPriceUsd: price(known),
  }
}
