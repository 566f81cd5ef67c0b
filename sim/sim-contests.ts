import { DAY_MS, formatAt, HOUR_MS, MINUTE_MS, msOf } from '../src/protocol/moment.ts'
import { type ContestSeries, fateOf, SERIES, type SimContest, unitsOf } from './sim-contest.ts'
import type { Market } from './market.ts'
import { beginPlays, sharePlays } from './plays.ts'
import { awardDaily, awardPrizes, refundAll } from './prizes.ts'
import { type SimWorld, TOKEN, amountAbout } from './platform.ts'

const PLANNING_HOUR = 8

/** Starts the planning, opening and closing of contests. The first two open within an hour. */
export function beginContests(world: SimWorld, market: Market): void {
  let id = 0
  const plan = (series: ContestSeries, day: number, opensAt: number): void => {
    const contest: SimContest = {
      id: ++id,
      title: series.title(day, world.random),
      fate: series.open === undefined ? fateOf(id, world.random) : 'held',
      series,
      units: unitsOf(market),
      opensAt,
      closesAt: opensAt + series.lengthMs,
      isEndKnown: series.open === undefined,
      state: 'upcoming',
      spent: 0n,
      shared: 0n,
    }
    schedule(world, contest)
  }
  const planDay = (today: number): void => {
    for (const series of SERIES) {
      const day = today + series.leadDays
      const isOffered = day - firstDay >= (series.open?.sinceDays ?? 0)
      if (isOffered && series.opensOn(day)) plan(series, day, day * DAY_MS + series.openHour * HOUR_MS)
    }
    world.at((today + 1) * DAY_MS + PLANNING_HOUR * HOUR_MS, () => planDay(today + 1))
  }
  const firstDay = Math.floor(world.now() / DAY_MS)
  world.after(2 * MINUTE_MS, () => {
    for (const series of [SERIES[0], SERIES[2]]) {
      if (series !== undefined) plan(series, firstDay, Math.ceil(world.now() / HOUR_MS) * HOUR_MS)
    }
    world.after(5 * MINUTE_MS, () => planDay(firstDay))
  })
}

function schedule(world: SimWorld, contest: SimContest): void {
  const { id, series } = contest
  const title = series.open?.wrongTitle(contest.title) ?? contest.title
  world.publish({ type: 'contest', kind: 'scheduled', contestId: id, details: { title, ...times(contest) } })
  const lead = contest.opensAt - world.now()
  if (contest.fate === 'postponed') {
    world.after(lead * 0.6, () => {
      const later = world.random.between(2, 8) * HOUR_MS
      contest.opensAt += later
      contest.closesAt += later
      reschedule(world, contest)
    })
  }
  if (contest.fate === 'withdrawn') {
    world.after(lead * 0.5, () => cancel(world, contest, 'Withdrawn before opening: the theme was taken'))
    return
  }
  // A contest that was rescheduled is opened at its new time.
  const open = (): void => {
    if (contest.opensAt > world.now()) world.at(contest.opensAt, open)
    else openContest(world, contest)
  }
  world.at(contest.opensAt, open)
}

function openContest(world: SimWorld, contest: SimContest): void {
  const { id, series, fate } = contest
  contest.state = 'running'
  world.publish({ type: 'contest', kind: 'opened', contestId: id })
  const topUp = amountAbout(world.random, series.topUp, 0.2)
  if (world.ledger.canPay('treasury', topUp)) {
    world.publish({ type: 'pool', kind: 'top_up', contestId: id, kots: topUp })
  }
  if (world.random.chance(series.sponsored)) {
    const kots = BigInt(world.random.between(4, 30)) * 500n * TOKEN
    const wait = world.random.between(10, 600) * MINUTE_MS
    world.after(wait, () => world.publish({ type: 'pool', kind: 'sponsor', contestId: id, kots, paid: true }))
  }
  beginPlays(world, contest)
  if (series.open !== undefined) beginOpen(world, contest)
  if (fate === 'cancelled') {
    world.after(series.lengthMs * 0.55, () => cancel(world, contest, 'Votes were bought: all stakes go back'))
    return
  }
  if (fate === 'extended') {
    world.after(series.lengthMs * 0.8, () => {
      contest.closesAt += world.random.between(2, 12) * HOUR_MS
      reschedule(world, contest)
    })
  }
  const close = (): void => {
    if (contest.closesAt > world.now()) world.at(contest.closesAt, close)
    else closeContest(world, contest)
  }
  world.at(contest.closesAt, close)
}

/** Prizes of the day, the right title, and the announcement of the end of a contest of an open series. */
function beginOpen(world: SimWorld, contest: SimContest): void {
  const { id: contestId, title, series, closesAt } = contest
  const { noticeMs = 0, dailyPrize = 0 } = series.open ?? {}
  const details = { title, reason: 'The title was misspelt' }
  world.after(2 * HOUR_MS, () => world.publish({ type: 'contest', kind: 'renamed', contestId, details }))
  world.at(closesAt - noticeMs, () => {
    contest.isEndKnown = true
    reschedule(world, contest)
  })
  const prizeOf = (day: number): void => {
    world.at(contest.opensAt + day * DAY_MS, () => {
      if (contest.state !== 'running') return
      awardDaily(world, contestId, amountAbout(world.random, dailyPrize, 0.3), day)
      prizeOf(day + 1)
    })
  }
  prizeOf(1)
}

function closeContest(world: SimWorld, contest: SimContest): void {
  contest.state = 'paying'
  world.publish({ type: 'contest', kind: 'closed', contestId: contest.id })
  sharePlays(world, contest)
  world.after(world.random.between(12, 80) * MINUTE_MS, () => awardPrizes(world, contest))
}

function cancel(world: SimWorld, contest: SimContest, reason: string): void {
  contest.state = 'paying'
  world.publish({ type: 'contest', kind: 'cancelled', contestId: contest.id, details: { reason } })
  world.after(world.random.between(20, 120) * MINUTE_MS, () => refundAll(world, contest))
}

function reschedule(world: SimWorld, contest: SimContest): void {
  world.publish({ type: 'contest', kind: 'rescheduled', contestId: contest.id, details: times(contest) })
}

function times({ opensAt, closesAt, isEndKnown }: SimContest): { opensAt: string; closesAt?: string } {
  const opening = { opensAt: formatAt(msOf(opensAt)) }
  return isEndKnown ? { ...opening, closesAt: formatAt(msOf(closesAt)) } : opening
}
