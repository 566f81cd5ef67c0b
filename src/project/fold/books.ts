import type { Ms } from '../../protocol/moment.ts'
import type { ContestOutcome, ContestSort, ContestStatus } from '../../protocol/enumerations.ts'
import type { ContestWire } from '../../protocol/endpoints/contest-endpoints.ts'
import type { ContestId, Seq } from '../../protocol/seq.ts'
import type { ContestState } from './contest.ts'
import type { LoyaltyState } from './loyalty.ts'
import type { Totals } from './tally.ts'
import type { UnpaidFilter, UnpaidRow, UnpaidTotals } from './unpaid.ts'

/** Seq and moment of the newest committed event; seq 0 on an empty log. */
export type Head = Readonly<{ seq: Seq; atMs: Ms | null }>

/**
 * Totals of all events up to `seq`. `head` looks up the moment on demand, because an answer of a thousand buckets needs
 * only one.
 */
export type AsOfTotals = Readonly<{ seq: Seq; head(): Head; totals: Totals }>

/** The correction that cancels an event, and the event that replaces it, if any. */
export type Correction = Readonly<{ by: Seq; restatement: Seq | null }>

/** Sums of `/patterns` up to one moment: four figures, and the spending for each kind of play. */
export type Activity = Readonly<{
  plays: bigint
  spentOnPlay: bigint
  paidInPrizes: bigint
  burned: bigint
  spentByKind: ReadonlyMap<string, bigint>
}>

/** Contests of these statuses and outcomes; null for all. An outcome of null finds contests that have none yet. */
export type ContestFilter = Readonly<{
  statuses: readonly ContestStatus[] | null
  outcomes: readonly (ContestOutcome | null)[] | null
}>

/** Search for contests. `words` are folded, and each must begin a word of the title. */
export type ContestSearch = ContestFilter &
  Readonly<{
    words: readonly string[]
    sort: ContestSort
    after: ContestId | null
    limit: number
  }>

/**
 * Result of a search. `next` is the contest after which it continues; null at its end. A search that has examined its
 * maximum of contests ends before its limit.
 */
export type FoundContests = Readonly<{ contests: readonly ContestWire[]; next: ContestId | null }>

/**
 * The books at one head, from which all answers are computed. A snapshot of the store implements them, and so does the
 * verifier's fold. So the same functions serve answers and verify them.
 */
export type Books = Readonly<{
  head: Head
  /** Moment of the first event; null on an empty log. */
  firstAtMs: Ms | null
  /** Totals of every event in the log. */
  totals(): AsOfTotals
  /** Totals of events with `at` < `ms`. One look-up when `ms` is a whole minute. */
  totalsBefore(ms: Ms): AsOfTotals
  /**
   * Totals before each of `bounds`, which are whole minutes in ascending order. One query for all. Only `withKinds` reads
   * the sums by kind, which may be many.
   */
  totalsBeforeEach(bounds: readonly Ms[], withKinds?: boolean): readonly AsOfTotals[]
  /**
   * D(q): the activity before `q`, plus that before q − 7 days, and so on back to the first event. `q` is a multiple of
   * 15 minutes. Undefined from the end of the last settled week on (weeks end on UTC Mondays).
   */
  weekStridedActivity(q: Ms): Activity | undefined
  contest(id: ContestId): ContestState | undefined
  /** Contests as answers show them, after the contest `after`, by descending seq of their `contest/scheduled`. */
  contests(
    query: ContestFilter & Readonly<{ after: ContestId | null; limit: number }>,
  ): readonly ContestWire[]
  /** Contests that closed or were cancelled from `fromMs` on and before `toMs`, the newest close first. */
  closedContests(range: Readonly<{ fromMs: Ms; toMs: Ms; limit: number }>): readonly ContestState[]
  /** Moment of the last payout of a contest and kind that stands; null without one. */
  lastPayout(contestId: ContestId, kind: string): Ms | null
  /** Contests that a search finds, in its order. */
  findContests(search: ContestSearch): FoundContests
  /** Lines of a contest's payouts, refunds and their corrections after `after`, by seq. */
  payoutLines(contestId: ContestId, after: Seq, limit: number): readonly string[]
  /** Unpaid and overpaid prizes in rows of equal terms, by the seq of each row's first lot. */
  unpaid(query: UnpaidFilter & Readonly<{ after: number; limit: number }>): readonly UnpaidRow[]
  /** Sums of these rows by status at `now`, a whole minute. */
  unpaidTotals(filter: UnpaidFilter, now: Ms): UnpaidTotals
  /** Loyalty rewards by ascending month. */
  loyalty(): readonly LoyaltyState[]
  /** Correction of an event; undefined for an event without one. */
  correction(seq: Seq): Correction | undefined
}>

/** Parts of the books from which movements and balances over a range are computed. */
export type LogTotals = Pick<Books, 'head' | 'firstAtMs' | 'totals' | 'totalsBeforeEach'>

/** Parts of the books that exist for the head only, not for past moments. */
export type HeadBooks = Pick<
  Books,
  | 'contest'
  | 'contests'
  | 'closedContests'
  | 'lastPayout'
  | 'findContests'
  | 'payoutLines'
  | 'unpaid'
  | 'unpaidTotals'
  | 'loyalty'
  | 'correction'
>
