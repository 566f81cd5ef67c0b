import { assert } from '../../protocol/brand.ts'
import type { Ms } from '../../protocol/moment.ts'
import { boundOf, FIRST_MONDAY_MS, floorTo, QUARTER_MS, WEEK_MS } from '../../protocol/moment.ts'
import type { Activity } from './books.ts'
import { countInt128s, decodeInt128s, encodeInt128s } from './tally.ts'

/**
 * Week-strided sums: D(q) = the activity before q + D(q − 7 days), one row for each quarter of an hour of a
 * week that had events, made when the week is over. The sum of one hour of the week over many weeks is then
 * a difference of four rows. A week without events needs no rows: nothing grows in it, so D grows by the same
 * activity each week.
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

/** The Monday 00:00 UTC at or before a moment. */
export function weekOf(ms: Ms): Ms {
  return floorTo(ms, WEEK_MS, FIRST_MONDAY_MS)
}

/** Where rows are kept. */
export type WeekShelf = Readonly<{
  /** The row of one quarter; undefined when its week has no rows. */
  row(q: Ms): Activity | undefined
  /** The Monday of the newest week at or before `week` that has rows. */
  weekWithRows(week: Ms): Ms | undefined
  /** Every event with `at` < `ms`. */
  activityBefore(ms: Ms): Activity
}>

/** D(q) for a quarter of a settled week. */
export function weekStrided(shelf: WeekShelf, q: Ms): Activity {
  const week = weekOf(q)
  const kept = shelf.weekWithRows(week)
  if (kept === undefined) return NO_ACTIVITY
  const row = shelf.row(boundOf(kept + (q - week)))
  assert(row !== undefined, `the week of ${kept} lacks the row of a quarter`)
  return kept === week ? row : addActivity(row, shelf.activityBefore(q), BigInt((week - kept) / WEEK_MS))
}

/** The rows of a week that is over, by ascending quarter. */
export function weekRows(shelf: WeekShelf, week: Ms): readonly Activity[] {
  return Array.from({ length: QUARTERS_OF_WEEK }, (_, index) => {
    const q = boundOf(week + index * QUARTER_MS)
    return addActivity(shelf.activityBefore(q), weekStrided(shelf, boundOf(q - WEEK_MS)))
  })
}

/** The integers before those per kind: plays, spent, paid, burned. */
const ACTIVITY_FIGURES = 4

/** An activity as 128-bit integers: its four figures, then one per kind of play that had appeared. */
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

/** How many kinds of play an activity's bytes hold. */
export function activityKindSlots(bytes: Uint8Array): number {
  return countInt128s(bytes) - ACTIVITY_FIGURES
}

export function decodeActivity(bytes: Uint8Array, kinds: readonly string[]): Activity {
  const [plays = 0n, spentOnPlay = 0n, paidInPrizes = 0n, burned = 0n, ...spent] = decodeInt128s(bytes)
  const spentByKind = new Map(
    spent.map((value, index) => {
      const kind = kinds[index]
      assert(kind !== undefined, `a row holds kind of play ${index}, the store knows ${kinds.length}`)
      return [kind, value]
    }),
  )
  return { plays, spentOnPlay, paidInPrizes, burned, spentByKind }
}
