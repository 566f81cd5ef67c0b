import { boundOf, type Ms, QUARTER_MS, WEEK_MS } from '../../protocol/moment.ts'
import type { Activity } from './books.ts'
import { addActivity, NO_ACTIVITY, QUARTERS_OF_WEEK, weekOf } from './week-sums.ts'

/** Rows of a past week: for each of its quarter hours q the sum D(q) of ARCHITECTURE.md, "Week-strided sums". */
type WeekRows = Readonly<{ week: Ms; rows: readonly Activity[] }>

/**
 * Collects the activity before each quarter of an hour of the present week, event by event. The first event of a later
 * week turns it into the rows of the week.
 */
export type WeekBuilder = Readonly<{
  /** The present week; null before the first event. */
  week: Ms | null
  /** Activity before each quarter hour of the present week so far. */
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
