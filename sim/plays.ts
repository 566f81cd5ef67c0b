import { MINUTE_MS, SECOND_MS } from '../src/protocol/moment.ts'
import type { SimContest } from './sim-contest.ts'
import type { Play } from './sim-contest.ts'
import { PLAYS } from './sim-contest.ts'
import { cancelDraft } from './corrections.ts'
import type { Utterance, SimWorld } from './platform.ts'
import { portionOf } from './sums.ts'

/** Between two totals of one contest of weight 1, on an average hour of the first day. */
const PLAY_EVERY_MS = 11.5 * MINUTE_MS
/** In live time a total holds this much less, but never less than one play. */
const LIVE_GRAIN = 30
/** How often a kind is played in live time, for each total of any kind before it. */
const liveShare = (play: Play): number => play.share * Math.min(LIVE_GRAIN, play.many)
/** So much faster totals come in live time: the same is spent, in smaller pieces. */
const LIVE_PACE = PLAYS.reduce((sum, play) => sum + liveShare(play), 0)
const SHARE_EVERY_MS = 150 * MINUTE_MS
/** How much of what is spent on play goes into the contest's pool. */
const POOL_PERCENT = 55
/** A total that turns out wrong: about one in this many. */
const WRONG_ONE_IN = 1100
/** A correction leaves a contest that is about to close alone. */
const SETTLED_MS = 15 * MINUTE_MS

/** Has a running contest played until it closes, and its pool grow with it. */
export function beginPlays(world: SimWorld, contest: SimContest): void {
  const play = (): void => {
    if (contest.state !== 'running') return
    sayPlay(world, contest)
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

/** Puts what the pool has not yet had of the contest's spending into it. */
export function sharePlays(world: SimWorld, contest: SimContest): void {
  const kots = portionOf(contest.spent, POOL_PERCENT) - contest.shared
  if (kots <= 0n || !world.purse.bears('treasury', kots)) return
  contest.shared += kots
  world.say({ type: 'pool', kind: 'play_share', contestId: contest.id, kots })
}

/** Players come at the opening and again before the close. */
function urgency(world: SimWorld, contest: SimContest): number {
  const done = (world.now() - contest.opensAt) / (contest.closesAt - contest.opensAt)
  return 0.7 + 0.5 * Math.exp(-8 * done) + 0.9 * Math.exp(-12 * Math.max(0, 1 - done))
}

function sayPlay(world: SimWorld, contest: SimContest): void {
  const live = world.isLive()
  const fine = Math.max(1, world.plan.scale)
  const chosen = world.random.weighted(
    PLAYS.map((play) => [play, live ? liveShare(play) : play.share] as const),
  )
  const mean = chosen.many / (fine * (live ? LIVE_GRAIN : 1))
  const count = 1 + world.random.poisson(Math.max(0, mean - 1))
  const said = playOf(contest, chosen.kind, count)
  const number = world.say(said)
  contest.spent += said.kots
  if (!world.random.chance(1 / (WRONG_ONE_IN * fine * (live ? LIVE_PACE : 1)))) return
  world.after(world.random.between(2, 45) * MINUTE_MS, () => restate(world, contest, number, said, count))
}

function playOf(contest: SimContest, kind: string, count: number): Utterance & { readonly kots: bigint } {
  const kots = (contest.units.get(kind) ?? 0n) * BigInt(count)
  return {
    type: 'play',
    kind,
    contestId: contest.id,
    kots,
    ...(count === 1 ? {} : { details: { count } }),
  }
}

function restate(
  world: SimWorld,
  contest: SimContest,
  number: number,
  wrong: Utterance & { readonly kots: bigint },
  count: number,
): void {
  if (contest.state !== 'running' || contest.closesAt - world.now() < SETTLED_MS) return
  if (!cancelDraft(world, number, wrong, 'Plays of two minutes were counted into one total')) return
  contest.spent -= wrong.kots
  const right = playOf(contest, wrong.kind, count + world.random.between(1, 4))
  // At the same moment: a contest that is cancelled in between could not take it any more.
  world.say({ ...right, details: { ...right.details, restates: number } })
  contest.spent += right.kots
}
