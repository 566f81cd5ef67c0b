import { add, type Amount, billionths, subtract, ZERO } from '../../protocol/amount.ts'
import type { Ms } from '../../protocol/moment.ts'
import type { ContestOutcome, ContestStatus } from '../../protocol/enumerations.ts'
import type { ContestId, Seq } from '../../protocol/seq.ts'

/** Sums of one kind of prize: the amount won (owed), and its paid and expired parts. */
export type PrizeSums = Readonly<{ owed: Amount; paid: Amount; expired: Amount }>

/** State of one contest, replaced as a whole at each of its events. */
export type ContestState = Readonly<{
  id: ContestId
  title: string | null
  status: ContestStatus
  /** Seq of its `contest/scheduled`, by which contests are listed. */
  scheduledSeq: Seq
  /** Seq of the newest event of this contest, including corrections. */
  lastSeq: Seq
  opensAt: Ms
  /** Planned close; null while no end is announced. */
  closesAt: Ms | null
  openedAt: Ms | null
  /** Moment of closing or cancellation. */
  closedAt: Ms | null
  /** Moment of `contest/paid`, whatever the outcome. */
  paidAt: Ms | null
  cancelledAt: Ms | null
  entries: bigint
  plays: bigint
  spentOnPlay: Amount
  poolIn: ReadonlyMap<string, Amount>
  poolOut: ReadonlyMap<string, Amount>
  prizes: ReadonlyMap<string, PrizeSums>
}>

/** One prize and its unpaid rest. Payouts and expiries take from it. */
export type Lot = Readonly<{
  /** Seq of the prize. */
  seq: Seq
  contestId: ContestId
  kind: string
  /** Moment of the prize event. */
  atMs: Ms
  /** Amount won; zero once the prize is corrected. */
  amount: Amount
  /** `amount` less all takes; negative when overpaid. */
  unpaid: Amount
  unlocksAt: Ms | null
  /** Review hold of the prize, or the hold in force when the lot was last closed. `reviewOf` gives the effective one. */
  reviewUntil: Ms | null
  /** Only holds after this event apply: after the prize, or after the newest hold when the lot was opened again. */
  heldFrom: Seq
  claim: boolean
}>

/** The newest review hold of a contest's prizes of one kind, and the event that set it. */
export type Hold = Readonly<{ contestId: ContestId; kind: string; seq: Seq; reviewUntil: Ms }>

/** Key of the holds and open lots of one contest and kind. */
export function kindKey(contestId: ContestId, kind: string): string {
  return `${contestId}/${kind}`
}

/** End of a lot's review. A hold applies to lots that were unpaid when it was published. */
export function reviewOf(lot: Lot, hold: Hold | undefined): Ms | null {
  return isHeld(lot, hold) ? hold.reviewUntil : lot.reviewUntil
}

/** The lot with the end of its review under the hold. */
export function underHold(lot: Lot, hold: Hold | undefined): Lot {
  return isHeld(lot, hold) ? { ...lot, reviewUntil: hold.reviewUntil } : lot
}

function isHeld({ unpaid, heldFrom }: Lot, hold: Hold | undefined): hold is Hold {
  return hold !== undefined && unpaid > ZERO && hold.seq > heldFrom
}

/** Amount that the payout or expiry `seq` took from the lot `lot`. */
export type Take = Readonly<{ seq: Seq; lot: Seq; amount: Amount }>

/** Moment at which a lot becomes available: the later of unlock and review, else the moment of the prize. */
export function availableAt({ unlocksAt, reviewUntil, atMs }: Lot, review: Ms | null = reviewUntil): Ms {
  if (unlocksAt === null) return review ?? atMs
  if (review === null) return unlocksAt
  return unlocksAt > review ? unlocksAt : review
}

/** Key of a contest in the order of planned closes. A contest without an announced end is last. */
export function closingKey({ closesAt }: Pick<ContestState, 'closesAt'>): number {
  return closesAt ?? Number.MAX_SAFE_INTEGER
}

function sum(amounts: Iterable<Amount>): Amount {
  let total = 0n
  for (const amount of amounts) total += amount
  return billionths(total)
}

/** All amounts put into the contest's pool. */
export function poolOf(contest: ContestState): Amount {
  return sum(contest.poolIn.values())
}

/** Balance of the account `pool:<id>`. */
export function poolBalance(contest: ContestState): Amount {
  return subtract(poolOf(contest), sum(contest.poolOut.values()))
}

/** Unpaid prizes of one kind: the balance of the account `unredeemed:<id>:<kind>`. */
export function unpaidOfKind(contest: ContestState, kind: string): Amount {
  const prize = contest.prizes.get(kind)
  return prize === undefined ? ZERO : unpaidOf(prize)
}

/** Prizes that are neither paid nor expired. */
export function unpaidOf({ owed, paid, expired }: PrizeSums): Amount {
  return subtract(subtract(owed, paid), expired)
}

/** Outcome of a contest; null while prizes may still be paid. */
export function outcomeOf({ cancelledAt, paidAt, prizes }: ContestState): ContestOutcome | null {
  if (cancelledAt !== null) return 'cancelled'
  if (paidAt === null) return null
  const kinds = [...prizes.values()]
  // Each kind counts by itself, because an overpaid kind may hide an unpaid one.
  if (kinds.some((prize) => unpaidOf(prize) > ZERO)) return 'owing'
  return kinds.some(({ expired }) => expired > ZERO) ? 'lapsed' : 'paid'
}

export const NO_PRIZE: PrizeSums = { owed: ZERO, paid: ZERO, expired: ZERO }

/** Sums over all kinds of prize. */
export function prizeTotals(contest: ContestState): PrizeSums {
  let total = NO_PRIZE
  for (const prize of contest.prizes.values()) {
    total = {
      owed: add(total.owed, prize.owed),
      paid: add(total.paid, prize.paid),
      expired: add(total.expired, prize.expired),
    }
  }
  return total
}
