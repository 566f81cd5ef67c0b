import type { Ms } from '../../protocol/moment.ts'
import type { ContestStatus, ContestWire } from '../../protocol/resources.ts'
import type { ContestId, Seq } from '../../protocol/seq.ts'
import type { ContestState } from './contest.ts'
import type { LoyaltyState } from './loyalty.ts'
import type { Totals } from './tally.ts'
import type { UnpaidRow, UnpaidTotals } from './unpaid.ts'

/** The newest committed event: its seq (0 on an empty log) and its moment. */
export type Head = Readonly<{ seq: Seq; atMs: Ms | null }>

/**
 * The totals of a stretch of the log that begins with its first event and ends with the event `seq`. Its moment is
 * looked up when it is asked for: an answer of a thousand buckets states one.
 */
export type AsOfTotals = Readonly<{ seq: Seq; head(): Head; totals: Totals }>

/** The correction that cancels an event, and the event that replaces it, if one does. */
export type Correction = Readonly<{ by: Seq; restatement: Seq | null }>

/** What `/patterns` sums, as of one moment: the five figures and the spending per kind of play. */
export type Activity = Readonly<{
  plays: bigint
  spentOnPlay: bigint
  paidInPrizes: bigint
  burned: bigint
  spentByKind: ReadonlyMap<string, bigint>
}>

/**
 * The books at one head: all that an answer may be computed from. The store's snapshot and the in-memory
 * fold of a sceptic both are one, so the same resource functions serve and verify.
 */
export type Books = Readonly<{
  head: Head
  /** The moment of the first event; null on an empty log. */
  firstAtMs: Ms | null
  /** Every event of the log. */
  totals(): AsOfTotals
  /** Every event with `at` < `ms`. One look-up when `ms` is a whole minute. */
  totalsBefore(ms: Ms): AsOfTotals
  /** The same before each of `bounds`: whole minutes that never decrease. One look at the store for all of them. */
  totalsBeforeEach(bounds: readonly Ms[]): readonly AsOfTotals[]
  /**
   * D(q): the activity before `q`, plus that before q − 7 days, and so on back to the first event; `q` is a
   * multiple of 15 minutes. Undefined from the end of the last settled week on (weeks end on UTC Mondays).
   */
  weekStridedActivity(q: Ms): Activity | undefined
  contest(id: ContestId): ContestState | undefined
  /**
   * Contests as they stand on the wire. Newest first: by descending seq of their `contest/scheduled`, after the contest
   * `after`.
   */
  contests(
    query: Readonly<{
      statuses: readonly ContestStatus[] | null
      after: ContestId | null
      limit: number
    }>,
  ): readonly ContestWire[]
  /** The lines of a contest's payouts, refunds and their corrections after `after`, by seq. */
  payoutLines(contestId: ContestId, after: Seq, limit: number): readonly string[]
  /** What is unpaid or overpaid, in rows of equal terms by the seq of each row's first lot; of one contest, or of all. */
  unpaid(query: Readonly<{ contestId: ContestId | null; after: number; limit: number }>): readonly UnpaidRow[]
  /** The sums of all those rows per status at `now`, a whole minute. */
  unpaidTotals(contestId: ContestId | null, now: Ms): UnpaidTotals
  /** By ascending month. */
  loyalty(): readonly LoyaltyState[]
  /** What became of an event that was corrected; undefined of one that stands. */
  correction(seq: Seq): Correction | undefined
}>
