import type { Amount } from '../../protocol/amount.ts'
import { add, billionths, subtract, ZERO } from '../../protocol/amount.ts'
import type { Ms } from '../../protocol/moment.ts'
import type { ContestStatus } from '../../protocol/resources.ts'
import type { ContestId, Seq } from '../../protocol/seq.ts'

/** What was won of one kind of prize, and what became of it. */
export type PrizeSums = Readonly<{ owed: Amount; redeemed: Amount; expired: Amount }>

/** One contest as of the head: replaced whole at each of its events. */
export type ContestState = Readonly<{
  id: ContestId
  title: string | null
  status: ContestStatus
  /** Seq of its `contest/scheduled`: contests are listed by it. */
  scheduledSeq: Seq
  /** Seq of the newest event that names it, corrections included: since then nothing of it has changed. */
  lastSeq: Seq
  opensAt: Ms
  closesAt: Ms
  openedAt: Ms | null
  /** When it was closed or cancelled. */
  closedAt: Ms | null
  paidAt: Ms | null
  entries: bigint
  plays: bigint
  spentOnPlay: Amount
  poolIn: ReadonlyMap<string, Amount>
  poolOut: ReadonlyMap<string, Amount>
  prizes: ReadonlyMap<string, PrizeSums>
}>

/** One prize and what stands of it; a payout or an expiry takes from it. */
export type Lot = Readonly<{
  /** Seq of the prize. */
  seq: Seq
  contestId: ContestId
  kind: string
  /** When the prize was published. */
  atMs: Ms
  /** Won; zero once the prize is corrected. */
  amount: Amount
  /** `amount` less what was taken; negative when more was paid than was won. */
  unpaid: Amount
  unlocksAt: Ms | null
  /** As the prize said, or as the hold that stood when the lot was closed last; `reviewOf` says what counts. */
  reviewUntil: Ms | null
  /** Only a hold after this event moves it: the prize, or the hold before the event that opened the lot again. */
  heldFrom: Seq
  claim: boolean
}>

/** The newest review hold of a contest's prizes of one kind, and the event that set it. */
export type Hold = Readonly<{ contestId: ContestId; kind: string; seq: Seq; reviewUntil: Ms }>

/** What holds and open lots of one contest and kind are found by. */
export function kindKey(contestId: ContestId, kind: string): string {
  return `${contestId}/${kind}`
}

/** Until when a lot is reviewed: a hold moves what is unpaid when it is published. */
export function reviewOf(lot: Lot, hold: Hold | undefined): Ms | null {
  return isHeld(lot, hold) ? hold.reviewUntil : lot.reviewUntil
}

/** The lot as it stands under the hold. */
export function underHold(lot: Lot, hold: Hold | undefined): Lot {
  return isHeld(lot, hold) ? { ...lot, reviewUntil: hold.reviewUntil } : lot
}

function isHeld({ unpaid, heldFrom }: Lot, hold: Hold | undefined): hold is Hold {
  return hold !== undefined && unpaid > ZERO && hold.seq > heldFrom
}

/** What the payout or expiry `seq` took from the lot `lot`. */
export type Take = Readonly<{ seq: Seq; lot: Seq; amount: Amount }>

/** The later of unlock and review hold, else the moment of the prize. */
export function availableAt({ unlocksAt, reviewUntil, atMs }: Lot, review: Ms | null = reviewUntil): Ms {
  if (unlocksAt === null) return review ?? atMs
  if (review === null) return unlocksAt
  return unlocksAt > review ? unlocksAt : review
}

export function sum(amounts: Iterable<Amount>): Amount {
  let total = 0n
  for (const amount of amounts) total += amount
  return billionths(total)
}

/** What has been put into the contest's pool. */
export function poolOf(contest: ContestState): Amount {
  return sum(contest.poolIn.values())
}

/** The balance of the account `pool:<id>`. */
export function poolBalance(contest: ContestState): Amount {
  return subtract(poolOf(contest), sum(contest.poolOut.values()))
}

/** The balance of the account `unredeemed:<id>:<kind>`. */
export function unredeemedOf(contest: ContestState, kind: string): Amount {
  const prize = contest.prizes.get(kind)
  return prize === undefined ? ZERO : standingOf(prize)
}

/** What was won and is neither redeemed nor expired. */
export function standingOf({ owed, redeemed, expired }: PrizeSums): Amount {
  return subtract(subtract(owed, redeemed), expired)
}

export const NO_PRIZE: PrizeSums = { owed: ZERO, redeemed: ZERO, expired: ZERO }

/** The sums over every kind of prize. */
export function prizeTotals(contest: ContestState): PrizeSums {
  let total = NO_PRIZE
  for (const prize of contest.prizes.values()) {
    total = {
      owed: add(total.owed, prize.owed),
      redeemed: add(total.redeemed, prize.redeemed),
      expired: add(total.expired, prize.expired),
    }
  }
  return total
}
