import type { Amount } from '../../protocol/amount.ts'
import { add, subtract, ZERO } from '../../protocol/amount.ts'
import { assert, recordOf } from '../../protocol/brand.ts'
import type { Ms } from '../../protocol/moment.ts'
import { boundOf, ceilTo, floorTo, HOUR_MS, later, MINUTE_MS, msOf } from '../../protocol/moment.ts'
import type { UnpaidStatus } from '../../protocol/resources.ts'
import { UNPAID_STATUSES } from '../../protocol/resources.ts'
import type { ContestId, Seq } from '../../protocol/seq.ts'
import type { Lot } from './contest.ts'
import { availableAt } from './contest.ts'

/** On what a lot's status depends beside the present; `overpaid` when more was paid of it than was won. */
export type PrizeTerms = Readonly<{
  unlocksAt: Ms | null
  reviewUntil: Ms | null
  availableAt: Ms
  claim: boolean
  overpaid: boolean
}>

/** The open lots of one contest and kind with equal terms, as one row. */
export type UnpaidRow = Readonly<{
  /** Seq of the first lot among them. */
  first: Seq
  contestId: ContestId
  kind: string
  terms: PrizeTerms
  /** Their sum; negative when they are overpaid. */
  unpaid: Amount
}>

/** What is unpaid or overpaid, per status. */
export type UnpaidTotals = Readonly<Record<UnpaidStatus, Amount>>

/**
 * The terms of a lot. Lots that are overpaid stand in rows of their own, so that no row adds what is owed to what is
 * to be taken back.
 */
export function termsOf(lot: Lot): PrizeTerms {
  const { unlocksAt, reviewUntil, claim } = lot
  return { unlocksAt, reviewUntil, availableAt: availableAt(lot), claim, overpaid: lot.unpaid < ZERO }
}

/** Moments inside of terms are written in as few characters as digits and letters allow. */
const TERMS_BASE = 36

/** Terms as a text: equal terms are the same one. */
export function formatTerms({
  unlocksAt,
  reviewUntil,
  availableAt: at,
  claim,
  overpaid,
}: PrizeTerms): string {
  // With either of the others, `availableAt` follows from them.
  const own = unlocksAt === null && reviewUntil === null ? at : null
  const moments = [unlocksAt, reviewUntil, own].map((ms) => ms?.toString(TERMS_BASE) ?? '')
  return [...moments, `${claim ? 'c' : ''}${overpaid ? 'o' : ''}`].join(',')
}

export function parseTerms(text: string): PrizeTerms {
  const [unlocks = '', review = '', own = '', flags = ''] = text.split(',')
  const momentOf = (ms: string): Ms | null => (ms === '' ? null : msOf(Number.parseInt(ms, TERMS_BASE)))
  const unlocksAt = momentOf(unlocks)
  const reviewUntil = momentOf(review)
  const at = momentOf(own) ?? lastOf(unlocksAt, reviewUntil)
  assert(at !== null, 'terms have a moment')
  return {
    unlocksAt,
    reviewUntil,
    availableAt: at,
    claim: flags.includes('c'),
    overpaid: flags.includes('o'),
  }
}

/** What stands in the way of a payment on these terms, at a moment. */
export function statusOf(terms: PrizeTerms, now: Ms): UnpaidStatus {
  if (terms.overpaid) return 'overpaid'
  if (terms.unlocksAt !== null && now < terms.unlocksAt) return 'locked'
  if (terms.reviewUntil !== null && now < terms.reviewUntil) return 'in_review'
  return terms.claim ? 'awaiting_claim' : 'payable'
}

/** The rows that open lots make, in the order of each row's first; `lots` are by seq. */
export function unpaidRows(lots: readonly Lot[]): readonly UnpaidRow[] {
  const rows = new Map<string, UnpaidRow>()
  for (const lot of lots) {
    const { contestId, kind } = lot
    const terms = termsOf(lot)
    const key = JSON.stringify([contestId, kind, Object.values(terms)])
    const row = rows.get(key)
    const unpaid = add(row?.unpaid ?? ZERO, lot.unpaid)
    rows.set(key, { first: row?.first ?? lot.seq, contestId, kind, terms, unpaid })
  }
  return [...rows.values()]
}

/** Sums rows per status, one after the other. */
export function totalsOfRows(rows: Iterable<UnpaidRow>, now: Ms): UnpaidTotals {
  const totals: Record<UnpaidStatus, Amount> = recordOf(UNPAID_STATUSES, () => ZERO)
  for (const { terms, unpaid } of rows) {
    const status = statusOf(terms, now)
    totals[status] = add(totals[status], unpaid)
  }
  return totals
}

/**
 * Sums of what is unpaid. At a place: of what unlocks there (`locked`), and of what nothing but a claim stands in the
 * way of from there on (`claim` when it must be claimed, else `plain`). Of the whole: all that must be claimed, and what
 * is overpaid; the rest is what the ledger says is not redeemed, less these.
 */
export type UnpaidSums = Readonly<Record<(typeof UNPAID_SUMS)[number], Amount>>

export const UNPAID_SUMS = ['locked', 'claim', 'plain', 'overpaid'] as const

export const NO_SUMS: UnpaidSums = { locked: ZERO, claim: ZERO, plain: ZERO, overpaid: ZERO }

/** A stretch of time over which sums are kept: `4096 ** level` minutes, the `bucket`-th since 1970. */
export type SumBucket = Readonly<{ level: number; bucket: number }>

/** The buckets of one level from `from` (inclusive) to `to` (exclusive). */
export type Places = Readonly<{ level: number; from: number; to: number }>

/**
 * Buckets that make one of the next level: the sums after any moment are read from fewer than this at each. So many
 * that a prize changes few pages of the store: its minutes, and one page of the wider places.
 */
const FAN_OUT = 4096
/** Minutes, 68 hours, 32 years: of the last there are 252 until the year 9999. */
const LEVELS = 3

/** Where the sums of the whole are kept. */
export const WHOLE: SumBucket = { level: LEVELS, bucket: 0 }

/** A reader's clock may be this far behind the log without missing a sum. */
const CLOCK_BEHIND_MS = HOUR_MS

/** The earliest present at which the sums tell, in a log whose last event is published at `at`. */
export function sumsTellFrom(at: Ms): Ms {
  return boundOf(Math.max(0, floorTo(at, MINUTE_MS) - CLOCK_BEHIND_MS))
}

/**
 * What rows of these terms add to the sums, and where, when `amount` is added to them. Only what is read at a present
 * of `from` or later: a payout of what became free long ago finds nothing to change.
 */
export function sumsOf(
  terms: PrizeTerms,
  amount: Amount,
  from: Ms,
): readonly (readonly [SumBucket, UnpaidSums])[] {
  if (terms.overpaid) return [[WHOLE, { ...NO_SUMS, overpaid: amount }]]
  const free: UnpaidSums = terms.claim ? { ...NO_SUMS, claim: amount } : { ...NO_SUMS, plain: amount }
  const { unlocksAt } = terms
  const freeAt = lastOf(unlocksAt, terms.reviewUntil)
  return [
    ...(terms.claim ? [[WHOLE, free] as const] : []),
    ...placesOf(unlocksAt, from).map((place) => [place, { ...NO_SUMS, locked: amount }] as const),
    ...placesOf(freeAt, from).map((place) => [place, free] as const),
  ]
}

/** The places that are read at no present of `from` or later. */
export function placesPassed(from: Ms): readonly Places[] {
  return Array.from({ length: LEVELS }, (_, level) => {
    return { level, from: 0, to: bucketOf(from / MINUTE_MS, level) + 1 }
  })
}

/** The places whose sums together are of every moment after `now`, a whole minute. */
export function placesAfter(now: Ms): readonly Places[] {
  return Array.from({ length: LEVELS }, (_, level) => {
    const bucket = bucketOf(now / MINUTE_MS, level)
    // The rest of this bucket's own is what the levels below have; the last level goes on to the end of time.
    const to = level === LEVELS - 1 ? FAN_OUT : (Math.floor(bucket / FAN_OUT) + 1) * FAN_OUT
    return { level, from: bucket + 1, to }
  })
}

/**
 * The totals per status at a moment, out of all that is not redeemed, the sums of the whole, and those of what comes
 * after the moment.
 */
export function totalsOfSums(notRedeemed: Amount, whole: UnpaidSums, after: UnpaidSums): UnpaidTotals {
  const plain = subtract(notRedeemed, add(whole.claim, whole.overpaid))
  return {
    locked: after.locked,
    in_review: subtract(add(after.claim, after.plain), after.locked),
    awaiting_claim: subtract(whole.claim, after.claim),
    payable: subtract(plain, after.plain),
    overpaid: whole.overpaid,
  }
}

export function addSums(a: UnpaidSums, b: UnpaidSums): UnpaidSums {
  return recordOf(UNPAID_SUMS, (name) => add(a[name], b[name]))
}

export function areZero(sums: UnpaidSums): boolean {
  return UNPAID_SUMS.every((name) => sums[name] === ZERO)
}

/** The present is a whole minute, so what comes after it comes at the next whole minute or later. */
function placesOf(ms: Ms | null, from: Ms): readonly SumBucket[] {
  if (ms === null) return []
  const minute = ceilTo(ms, MINUTE_MS) / MINUTE_MS
  return placesPassed(from).flatMap(({ level, to }) => {
    const bucket = bucketOf(minute, level)
    return bucket < to ? [] : [{ level, bucket }]
  })
}

function bucketOf(minute: number, level: number): number {
  return Math.floor(minute / FAN_OUT ** level)
}

/** The later of two moments, where there are two. */
export function lastOf(a: Ms | null, b: Ms | null): Ms | null {
  if (a === null || b === null) return a ?? b
  return later(a, b)
}
