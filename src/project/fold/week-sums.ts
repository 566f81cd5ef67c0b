import { assert } from '../../protocol/brand.ts'
import { boundOf, FIRST_MONDAY_MS, floorTo, type Ms, QUARTER_MS, WEEK_MS } from '../../protocol/moment.ts'
import type { Activity } from './books.ts'
import { countInt128s, decodeInt128s, encodeInt128s } from './tally.ts'

/**
 * Rows of one week, one for each quarter of an hour q. A row is the week-strided sum D(q) = activity before q + D(q − 7
 * days), made when the week is over. Four rows give the activity of one hour of the week over many weeks. A week
 * without events needs no rows, because D(q) grows by the same activity in each such week.
 */
export const QUARTERS_OF_WEEK: number = WEEK_MS / QUARTER_MS

export const NO_ACTIVITY: Activity = {
  plays: 0n,
  spentOnPlay: 0n,
  paidInPrizes: 0n,
  burned: 0n,
  spentByKind: new Map(),
}

/** `a + b × times`, figure by figure. */
export function addActivity(a: Activity, b: Activity, times = 1n): Activity {
  const spentByKind = new Map(a.spentByKind)
  for (const [kind, spent] of b.spentByKind)
    spentByKind.set(kind, (spentByKind.get(kind) ?? 0n) + spent * times)
  return {
    plays: a.plays + b.plays * times,
    spentOnPlay: a.spentOnPlay + b.spentOnPlay * times,
    paidInPrizes: a.paidInPrizes + b.paidInPrizes * times,
    burned: a.burned + b.burned * times,
    spentByKind,
  }
}

/** Monday 00:00 UTC at or before a moment. */
export function weekOf(ms: Ms): Ms {
  return floorTo(ms, WEEK_MS, FIRST_MONDAY_MS)
}

/** Storage of the rows. */
export type WeekRepository = Readonly<{
  /** Row of a quarter hour; undefined when its week has no rows. */
  row(q: Ms): Activity | undefined
  /** Monday of the newest week with rows, at or before `week`. */
  weekWithRows(week: Ms): Ms | undefined
  /** Activity of events with `at` < `ms`. */
  activityBefore(ms: Ms): Activity
}>

/** D(q) for a quarter hour of a settled week. */
export function weekStrided(repository: WeekRepository, q: Ms): Activity {
  const week = weekOf(q)
  const withRows = repository.weekWithRows(week)
  if (withRows === undefined) return NO_ACTIVITY
  const row = repository.row(boundOf(withRows + (q - week)))
  assert(row !== undefined, `the week of ${withRows} lacks the row of a quarter hour`)
  if (withRows === week) return row
  return addActivity(row, repository.activityBefore(q), BigInt((week - withRows) / WEEK_MS))
}

/** Number of integers before those of the kinds: plays, spent on play, paid in prizes, burned. */
const ACTIVITY_FIGURES = 4

/** Encodes an activity as 128-bit integers: its four figures, then one for each kind of play. */
export function encodeActivity(activity: Activity, kinds: readonly string[]): Uint8Array {
  const spent = kinds.slice(0, activity.spentByKind.size).map((kind) => activity.spentByKind.get(kind) ?? 0n)
  return encodeInt128s([
    activity.plays,
    activity.spentOnPlay,
    activity.paidInPrizes,
    activity.burned,
    ...spent,
  ])
}

/** Number of kinds of play in an encoded activity. */
export function activityKindSlots(bytes: Uint8Array): number {
  return countInt128s(bytes) - ACTIVITY_FIGURES
}

export function decodeActivity(bytes: Uint8Array, kinds: readonly string[]): Activity {
  const [plays = 0n, spentOnPlay = 0n, paidInPrizes = 0n, burned = 0n, ...spent] = decodeInt128s(bytes)
  const spentByKind = new Map(
    spent.map((value, index) => {
      const kind = kinds[index]
      assert(kind !== undefined, `a row holds kind of play ${index}, but the store knows ${kinds.length}`)
      return [kind, value]
    }),
  )
  return { plays, spentOnPlay, paidInPrizes, burned, spentByKind }
}

/** Rows of a past week: for each of its quarter hours q the sum D(q) of ARCHITECTURE.md, "Week-strided sums". */
type WeekRows = Readonly<{ week: Ms; rows: readonly Activity[] }>

/**
 * Collects the activity before each quarter hour of the current week, event by event. The first event of a later week
 * turns it into the rows of the week.
 */
export type WeekBuilder = Readonly<{
  /** The present week; null before the first event. */
  week: Ms | null
  /** Activity before each quarter hour of the current week so far. */
  reached: readonly Activity[]
  /** The newest week with rows. */
  last: WeekRows | null
}>

export const NO_WEEK: WeekBuilder = { week: null, reached: [], last: null }

/** First moment at which `advance` changes the builder. */
export function nextQuarter(builder: WeekBuilder): Ms {
  return boundOf(builder.week === null ? 0 : builder.week + builder.reached.length * QUARTER_MS)
}

/**
 * Advances to an event at `atMs`; `activity` counts all events before it. Returns the new builder and, when the event
 * begins a later week, the rows of the week that has ended.
 */
export function advance(
  builder: WeekBuilder,
  atMs: Ms,
  activity: Activity,
): Readonly<{ builder: WeekBuilder; ended: WeekRows | null }> {
  const week = weekOf(atMs)
  if (builder.week === null || builder.week === week) {
    return { builder: reach({ ...builder, week }, atMs, activity), ended: null }
  }
  const full = reach(builder, boundOf(builder.week + WEEK_MS - 1), activity)
  const ended = { week: builder.week, rows: rowsOf(full, builder.week) }
  return { builder: reach({ week, reached: [], last: ended }, atMs, activity), ended }
}

function reach(builder: WeekBuilder, atMs: Ms, activity: Activity): WeekBuilder {
  const count = Math.floor((atMs - (builder.week ?? 0)) / QUARTER_MS) + 1
  if (count <= builder.reached.length) return builder
  const missing = Array.from({ length: count - builder.reached.length }, () => activity)
  return { ...builder, reached: [...builder.reached, ...missing] }
}

function rowsOf(full: WeekBuilder, week: Ms): readonly Activity[] {
  const { last } = full
  // Weeks between the last one with rows and this one are empty. Each adds the same activity to D.
  const before = full.reached[0] ?? NO_ACTIVITY
  const emptyWeeks = last === null ? 0n : BigInt((week - last.week) / WEEK_MS - 1)
  return Array.from({ length: QUARTERS_OF_WEEK }, (_, index) => {
    const stride = last?.rows[index] ?? NO_ACTIVITY
    return addActivity(addActivity(full.reached[index] ?? NO_ACTIVITY, stride), before, emptyWeeks)
  })
}
