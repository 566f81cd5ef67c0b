import { add, type Amount, subtract, ZERO } from '../../protocol/amount.ts'
import { assert, recordOf } from '../../protocol/brand.ts'
import { boundOf, ceilTo, floorTo, HOUR_MS, later, MINUTE_MS, type Ms, msOf } from '../../protocol/moment.ts'
import { UNPAID_STATUSES, type UnpaidStatus } from '../../protocol/enumerations.ts'
import type { ContestId, Seq } from '../../protocol/seq.ts'
import { availableAt, type Lot } from './contest.ts'

/** Terms of a lot, which determine its status at any moment. `overpaid`: more was paid than was won. */
export type PrizeTerms = Readonly<{
  unlocksAt: Ms | null
  reviewUntil: Ms | null
  availableAt: Ms
  claim: boolean
  overpaid: boolean
}>

/** Open lots of one contest and kind with equal terms, as one row. */
export type UnpaidRow = Readonly<{
  /** Seq of the first lot. */
  first: Seq
  contestId: ContestId
  kind: string
  terms: PrizeTerms
  /** Sum of the lots; negative when they are overpaid. */
  unpaid: Amount
}>

/** Unpaid and overpaid amounts by status. */
export type UnpaidTotals = Readonly<Record<UnpaidStatus, Amount>>

/** Terms of a lot. Overpaid lots have their own rows, so that debts and overpayments do not cancel out. */
export function termsOf(lot: Lot): PrizeTerms {
  const { unlocksAt, reviewUntil, claim } = lot
  return { unlocksAt, reviewUntil, availableAt: availableAt(lot), claim, overpaid: lot.unpaid < ZERO }
}

/** Base of the moments in a text of terms. The largest that `toString` supports gives the shortest texts. */
const TERMS_BASE = 36

/** Terms as a text. Equal terms have equal texts. */
export function formatTerms({
  unlocksAt,
  reviewUntil,
  availableAt: at,
  claim,
  overpaid,
}: PrizeTerms): string {
  // `availableAt` follows from the other two moments, when there is one.
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

/** Status of a prize with these terms at a moment. */
export function statusOf(terms: PrizeTerms, now: Ms): UnpaidStatus {
  if (terms.overpaid) return 'overpaid'
  if (terms.unlocksAt !== null && now < terms.unlocksAt) return 'locked'
  if (terms.reviewUntil !== null && now < terms.reviewUntil) return 'in_review'
  return terms.claim ? 'awaiting_claim' : 'payable'
}

/** Unpaid prizes of these contests and kinds; null for all. */
export type UnpaidFilter = Readonly<{
  contestIds: readonly ContestId[] | null
  kinds: readonly string[] | null
}>

/** Whether a filter asks for a prize. */
export function isUnpaidAsked(
  { contestId, kind }: Pick<UnpaidRow, 'contestId' | 'kind'>,
  { contestIds, kinds }: UnpaidFilter,
): boolean {
  return (contestIds === null || contestIds.includes(contestId)) && (kinds === null || kinds.includes(kind))
}

/** Rows of open lots, in the order of each row's first lot; `lots` are in the order of seq. */
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

/** Sums rows by status. */
export function totalsOfRows(rows: Iterable<Pick<UnpaidRow, 'terms' | 'unpaid'>>, now: Ms): UnpaidTotals {
  const totals: Record<UnpaidStatus, Amount> = recordOf(UNPAID_STATUSES, () => ZERO)
  for (const { terms, unpaid } of rows) {
    const status = statusOf(terms, now)
    totals[status] = add(totals[status], unpaid)
  }
  return totals
}

/**
 * Sums of unpaid prizes. A bucket has prizes that unlock in it (`locked`), and prizes that become payable in it, once
 * claimed (`claim`) or immediately (`plain`). `WHOLE` has all prizes that need a claim, and all overpaid ones. The rest
 * follows from the unpaid prizes in the ledger, except for one kind of prize, whose `WHOLE` also has the plain ones.
 */
export type UnpaidSums = Readonly<Record<(typeof UNPAID_SUMS)[number], Amount>>

export const UNPAID_SUMS = ['locked', 'claim', 'plain', 'overpaid'] as const

export const NO_SUMS: UnpaidSums = { locked: ZERO, claim: ZERO, plain: ZERO, overpaid: ZERO }

/** Period with its own sums: the `bucket`-th period of `4096 ** level` minutes since 1970. */
export type SumBucket = Readonly<{ level: number; bucket: number }>

/** Buckets of one level from `from` (inclusive) to `to` (exclusive). */
type BucketRange = Readonly<{ level: number; from: number; to: number }>

/**
 * Buckets that form one bucket of the next level. Sums after any moment need fewer buckets than this at each level. A
 * large number keeps the changes of a prize on few pages of the store.
 */
const FAN_OUT = 4096
/** Levels of a minute, 68 hours and 32 years; the last has 252 buckets until the year 9999. */
const LEVELS = 3

/** Bucket of the sums over all time. */
export const WHOLE: SumBucket = { level: LEVELS, bucket: 0 }

/** Largest lag of a reader's clock behind the log for which the sums are complete. */
const CLOCK_BEHIND_MS = HOUR_MS

/** Earliest current time for which the sums are complete, in a log whose last event is published at `at`. */
export function sumsCompleteFrom(at: Ms): Ms {
  return boundOf(Math.max(0, floorTo(at, MINUTE_MS) - CLOCK_BEHIND_MS))
}

/**
 * Changes of the sums when `amount` is added to a row with these terms. Skips buckets that no reader needs from the
 * time `from` on. So a payout of a prize that was payable long before changes nothing, except in the sums of its kind
 * (`ofKind`).
 */
export function sumsOf(
  terms: PrizeTerms,
  amount: Amount,
  from: Ms,
  ofKind: boolean,
): readonly (readonly [SumBucket, UnpaidSums])[] {
  if (terms.overpaid) return [[WHOLE, { ...NO_SUMS, overpaid: amount }]]
  const free: UnpaidSums = terms.claim ? { ...NO_SUMS, claim: amount } : { ...NO_SUMS, plain: amount }
  const { unlocksAt } = terms
  const freeAt = lastOf(unlocksAt, terms.reviewUntil)
  return [
    ...(terms.claim || ofKind ? [[WHOLE, free] as const] : []),
    ...bucketsOf(unlocksAt, from).map((place) => [place, { ...NO_SUMS, locked: amount }] as const),
    ...bucketsOf(freeAt, from).map((place) => [place, free] as const),
  ]
}

/** Buckets that no reader needs from the time `from` on. */
export function bucketsBefore(from: Ms): readonly BucketRange[] {
  return Array.from({ length: LEVELS }, (_, level) => {
    return { level, from: 0, to: bucketOf(from / MINUTE_MS, level) + 1 }
  })
}

/** Buckets that together cover every moment after `now`, a whole minute. */
export function bucketsAfter(now: Ms): readonly BucketRange[] {
  return Array.from({ length: LEVELS }, (_, level) => {
    const bucket = bucketOf(now / MINUTE_MS, level)
    // Lower levels cover the rest of the current bucket. The last level reaches the end of time.
    const to = level === LEVELS - 1 ? FAN_OUT : (Math.floor(bucket / FAN_OUT) + 1) * FAN_OUT
    return { level, from: bucket + 1, to }
  })
}

/** Totals by status at a moment. `unpaid`: all unpaid prizes; `after`: the sums of buckets after the moment. */
export function totalsOfSums(unpaid: Amount, whole: UnpaidSums, after: UnpaidSums): UnpaidTotals {
  const plain = subtract(unpaid, add(whole.claim, whole.overpaid))
  return {
    locked: after.locked,
    in_review: subtract(add(after.claim, after.plain), after.locked),
    awaiting_claim: subtract(whole.claim, after.claim),
    payable: subtract(plain, after.plain),
    overpaid: whole.overpaid,
  }
}

/** All unpaid prizes of a kind, less overpaid ones. */
export function unpaidOfSums({ claim, plain, overpaid }: UnpaidSums): Amount {
  return add(add(claim, plain), overpaid)
}

export function addSums(a: UnpaidSums, b: UnpaidSums): UnpaidSums {
  return recordOf(UNPAID_SUMS, (name) => add(a[name], b[name]))
}

export function areZero(sums: UnpaidSums): boolean {
  return UNPAID_SUMS.every((name) => sums[name] === ZERO)
}

/** Buckets of a moment, one for each level. Rounds up, because a reader's current time is a whole minute. */
function bucketsOf(ms: Ms | null, from: Ms): readonly SumBucket[] {
  if (ms === null) return []
  const minute = ceilTo(ms, MINUTE_MS) / MINUTE_MS
  return bucketsBefore(from).flatMap(({ level, to }) => {
    const bucket = bucketOf(minute, level)
    return bucket < to ? [] : [{ level, bucket }]
  })
}

function bucketOf(minute: number, level: number): number {
  return Math.floor(minute / FAN_OUT ** level)
}

/** The later of two moments; null only when both are null. */
function lastOf(a: Ms | null, b: Ms | null): Ms | null {
  if (a === null || b === null) return a ?? b
  return later(a, b)
}
