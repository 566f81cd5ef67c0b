import { MINUTE_MS, SECOND_MS } from '../src/protocol/moment.ts'
import { type Play, PLAYS, type SimContest } from './sim-contest.ts'
import { cancelDraft, type SimDraft, type SimWorld, portionOf } from './platform.ts'

/** Time between two totals of a contest of weight 1, in an average hour of the first day. */
const PLAY_EVERY_MS = 11.5 * MINUTE_MS
/** Factor by which a total is smaller in live time. It has at least one play. */
const LIVE_GRAIN = 30
/** Frequency of a kind of play in live time, as a multiple of all totals before live time. */
const liveShare = (play: Play): number => play.share * Math.min(LIVE_GRAIN, play.many)
/** Factor by which totals are faster in live time: the same amount is spent in smaller pieces. */
const LIVE_PACE = PLAYS.reduce((sum, play) => sum + liveShare(play), 0)
/** Kinds of play that name their transaction in live time. Large totals of the history have many transactions. */
const ONE_TX: ReadonlySet<string> = new Set(['entry', 'boost', 'tip'])
const SHARE_EVERY_MS = 150 * MINUTE_MS
/** Percentage of the amounts spent on play that goes into the pool of the contest. */
const POOL_PERCENT = 55
/** Totals for each one that is wrong. */
const WRONG_ONE_IN = 1100
/** Time before the close of a contest in which its plays are not corrected. */
const SETTLED_MS = 15 * MINUTE_MS

/** Starts the plays of a running contest, and the growth of its pool, until it closes. */
export function beginPlays(world: SimWorld, contest: SimContest): void {
  const play = (): void => {
    if (contest.state !== 'running') return
    publishPlay(world, contest)
    const busy = world.pace() * contest.series.weight * world.plan.scale * urgency(world, contest)
    world.afterPaced(world.random.exponential(PLAY_EVERY_MS / busy), LIVE_PACE, play)
  }
  const share = (): void => {
    if (contest.state !== 'running') return
    sharePlays(world, contest)
    world.after(SHARE_EVERY_MS * (0.8 + world.random.next() * 0.4), share)
  }
  world.after(world.random.between(5, 90) * SECOND_MS, play)
  world.after(SHARE_EVERY_MS, share)
}

/** Moves the pool's share of the amount spent since the last time into the pool. */
export function sharePlays(world: SimWorld, contest: SimContest): void {
  const kots = portionOf(contest.spent, POOL_PERCENT) - contest.shared
  if (kots <= 0n || !world.ledger.canPay('treasury', kots)) return
  contest.shared += kots
  world.publish({ type: 'pool', kind: 'play_share', contestId: contest.id, kots })
}

/** Activity of players over the length of a contest: highest at its opening and before its close. */
function urgency(world: SimWorld, contest: SimContest): number {
  const done = (world.now() - contest.opensAt) / (contest.closesAt - contest.opensAt)
  return 0.7 + 0.5 * Math.exp(-8 * done) + 0.9 * Math.exp(-12 * Math.max(0, 1 - done))
}

function publishPlay(world: SimWorld, contest: SimContest): void {
  const live = world.isLive()
  const fine = Math.max(1, world.plan.scale)
  const chosen = world.random.weighted(
    PLAYS.map((play) => [play, live ? liveShare(play) : play.share] as const),
  )
  const mean = chosen.many / (fine * (live ? LIVE_GRAIN : 1))
  const count = 1 + world.random.poisson(Math.max(0, mean - 1))
  const draft = playOf(contest, chosen.kind, count, live)
  const number = world.publish(draft)
  contest.spent += draft.kots
  if (!world.random.chance(1 / (WRONG_ONE_IN * fine * (live ? LIVE_PACE : 1)))) return
  world.after(world.random.between(2, 45) * MINUTE_MS, () => restate(world, contest, number, draft, count))
}

function playOf(
  contest: SimContest,
  kind: string,
  count: number,
  live: boolean,
): SimDraft & { readonly kots: bigint } {
  const kots = (contest.units.get(kind) ?? 0n) * BigInt(count)
  return {
    type: 'play',
    kind,
    contestId: contest.id,
    kots,
    ...(live && ONE_TX.has(kind) ? { paid: true } : {}),
    ...(count === 1 ? {} : { details: { count } }),
  }
}

function restate(
  world: SimWorld,
  contest: SimContest,
  number: number,
  wrong: SimDraft & { readonly kots: bigint },
  count: number,
): void {
  if (contest.state !== 'running' || contest.closesAt - world.now() < SETTLED_MS) return
  if (!cancelDraft(world, number, wrong, 'Plays of two minutes were counted into one total')) return
  contest.spent -= wrong.kots
  const right = playOf(contest, wrong.kind, count + world.random.between(1, 4), world.isLive())
  // Published at the same moment, because a cancellation of the contest in between would make the draft invalid.
  world.publish({ ...right, details: { ...right.details, restates: number } })
  contest.spent += right.kots
}
