import { DAY_MS, formatAt, HOUR_MS, MINUTE_MS, msOf, SECOND_MS } from '../src/protocol/moment.ts'
import type { SimContest } from './sim-contest.ts'
import { cancelDraft, type SimDraft, type SimWorld, portionOf, split } from './platform.ts'

/** Kinds of prizes: percentage of the pool, hours until unlock and end of review, and whether they must be claimed. */
const PRIZES = [
  { kind: 'winner', percent: 38, unlockHours: 24, reviewHours: 48, claim: true, winners: [1, 1], parts: 1 },
  {
    kind: 'runner_up',
    percent: 21,
    unlockHours: 12,
    reviewHours: 24,
    claim: true,
    winners: [3, 3],
    parts: 3,
  },
  { kind: 'voter_share', percent: 30, unlockHours: 6, reviewHours: 0, winners: [40, 900], parts: 22 },
  { kind: 'lucky_draw', percent: 9, unlockHours: 2, reviewHours: 0, winners: [5, 20], parts: 6 },
] as const

type Prize = (typeof PRIZES)[number]

/** Time after which an unclaimed prize expires. */
const EXPIRY_MS = 14 * DAY_MS
const PARTS_MAX = 500
/** Factor by which prizes of live time are paid in more parts. */
const LIVE_PARTS = 8
/** Time after which a payout that failed on the chain is sent again. */
const SENT_AGAIN_MS = 45 * SECOND_MS

/** Settlement of a contest, which is paid once every action of it has happened. */
type Settlement = Readonly<{
  /** Runs `act` after a wait, and keeps the contest from being paid before. */
  later(ms: number, act: () => unknown): void
  /** Ends the planning of actions. */
  planned(): void
}>

function openSettlement(world: SimWorld, { id: contestId }: SimContest): Settlement {
  let pending = 1
  const done = (): void => {
    pending--
    if (pending > 0) return
    const left = world.ledger.balance(`pool:${contestId}`)
    if (left > 0n) world.publish({ type: 'pool', kind: 'returned', contestId, kots: left })
    world.publish({ type: 'contest', kind: 'paid', contestId })
  }
  return {
    later(ms, act) {
      pending++
      world.after(ms, () => {
        act()
        done()
      })
    },
    planned: done,
  }
}

/** Awards a closed contest's pool, pays it over the next days and ends with `contest/paid`. */
export function awardPrizes(world: SimWorld, contest: SimContest): void {
  const pool = world.ledger.balance(`pool:${contest.id}`)
  const settlement = openSettlement(world, contest)
  for (const prize of PRIZES) {
    const kots = portionOf(pool, prize.percent)
    if (kots > 0n) award(world, contest.id, settlement, prize, kots)
  }
  settlement.planned()
}

/** One in so many prizes of the day is claimed by nobody, and expires. */
const UNCLAIMED_ONE_IN = 6
/** Time until an unclaimed prize of the day expires, and the longest wait for a claim: both shorter than paying takes. */
const DAILY_EXPIRY_MS = 30 * HOUR_MS
const DAILY_CLAIM_HOURS = 20

/** Awards the prize of a day in a running contest. */
export function awardDaily(world: SimWorld, contestId: number, kots: bigint, day: number): void {
  // Half of the pool is left for the end.
  if (!world.ledger.canPay(`pool:${contestId}`, 2n * kots)) return
  const kind = 'daily'
  const details = { claim: true, winners: world.random.between(1, 3) }
  world.publish({ type: 'prize', kind, contestId, kots, details })
  if (day % UNCLAIMED_ONE_IN === 0) {
    world.after(DAILY_EXPIRY_MS, () => world.publish({ type: 'expiry', kind, contestId, kots }))
    return
  }
  const wait = world.random.between(1, DAILY_CLAIM_HOURS) * HOUR_MS
  const later = (ms: number, act: () => unknown): void => world.after(ms, () => void act())
  later(wait, () =>
    pay(world, { later, planned: () => undefined }, { type: 'payout', kind, contestId, kots, paid: true }),
  )
}

/** Refunds all plays of a cancelled contest; the rest of its pool goes to the treasury. */
export function refundAll(world: SimWorld, contest: SimContest): void {
  const settlement = openSettlement(world, contest)
  const { id: contestId, spent } = contest
  const missing = spent - world.ledger.balance(`pool:${contestId}`)
  if (missing > 0n) world.publish({ type: 'pool', kind: 'top_up', contestId, kots: missing })
  const parts = spent === 0n ? [] : split(world.random, spent, partsOf(world, 16))
  for (const kots of parts) {
    settlement.later(world.random.between(3, 30 * 60) * MINUTE_MS, () =>
      world.publish({ type: 'payout', kind: 'refund', contestId, kots, paid: true }),
    )
  }
  settlement.planned()
}

function award(world: SimWorld, contestId: number, settlement: Settlement, prize: Prize, kots: bigint): void {
  const now = world.now()
  const { kind } = prize
  const isClaimed = 'claim' in prize
  const unlocksAt = now + prize.unlockHours * HOUR_MS
  const reviewUntil = now + prize.reviewHours * HOUR_MS
  const winners = world.random.between(prize.winners[0], prize.winners[1])
  const details = {
    unlocksAt: formatAt(msOf(unlocksAt)),
    ...(prize.reviewHours === 0 ? {} : { reviewUntil: formatAt(msOf(reviewUntil)) }),
    ...(isClaimed ? { claim: true } : {}),
    winners,
  }
  world.publish({ type: 'prize', kind, contestId, kots, details })
  let available = Math.max(unlocksAt, reviewUntil)
  if (kind === 'winner' && contestId % 6 === 3) available = hold(world, contestId, settlement, available)
  const expires = kind === 'runner_up' && contestId % 8 === 1
  const parts = split(world.random, kots, isClaimed ? prize.parts : partsOf(world, prize.parts))
  parts.forEach((part, index) => {
    const wait = available - now
    if (expires && index === parts.length - 1) {
      const expiry: SimDraft = { type: 'expiry', kind, contestId, kots: part }
      settlement.later(wait + EXPIRY_MS, () => world.publish(expiry))
      return
    }
    const queue = isClaimed ? world.random.lognormal(9 * HOUR_MS, 0.8) : world.random.next() * 30 * HOUR_MS
    settlement.later(wait + Math.min(queue, EXPIRY_MS - HOUR_MS), () =>
      pay(world, settlement, { type: 'payout', kind, contestId, kots: part, paid: true }),
    )
  })
}

/** Extends the review hold of the winner by two to four days, halfway through it. Returns the new end. */
function hold(world: SimWorld, contestId: number, settlement: Settlement, until: number): number {
  const reviewUntil = until + world.random.between(48, 96) * HOUR_MS
  const details = { reviewUntil: formatAt(msOf(reviewUntil)) }
  settlement.later((until - world.now()) / 2, () =>
    world.publish({ type: 'hold', kind: 'winner', contestId, details }),
  )
  return reviewUntil
}

function pay(world: SimWorld, settlement: Settlement, payout: SimDraft): void {
  const { failedOneIn = Infinity } = world.plan
  if (failedOneIn < Infinity && world.isLive() && world.random.chance(1 / failedOneIn)) {
    world.publish({ ...payout, paid: 'fails' })
    settlement.later(SENT_AGAIN_MS, () => pay(world, settlement, payout))
    return
  }
  const number = world.publish(payout)
  if (!world.random.chance(1 / (900 * Math.max(1, world.plan.scale)))) return
  settlement.later(world.random.between(3, 50) * MINUTE_MS, () => {
    const corrected = cancelDraft(world, number, payout, 'Published with the transaction of another payment')
    if (corrected) world.publish({ ...payout, details: { restates: number } })
  })
}

function partsOf(world: SimWorld, parts: number): number {
  const fine = world.plan.scale * (world.isLive() ? LIVE_PARTS : 1)
  return Math.min(PARTS_MAX, Math.max(2, Math.round(parts * fine * (0.7 + world.random.next() * 0.6))))
}
