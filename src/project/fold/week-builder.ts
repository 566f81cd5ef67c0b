import type { Ms } from '../../protocol/moment.ts'
import { boundOf, QUARTER_MS, WEEK_MS } from '../../protocol/moment.ts'
import type { Activity } from './books.ts'
import { addActivity, NO_ACTIVITY, QUARTERS_OF_WEEK, weekOf } from './week-sums.ts'

/** The rows of one week that is over: D(q) of each of its quarters. */
export type WeekRows = Readonly<{ week: Ms; rows: readonly Activity[] }>

/**
 * Gathers, event by event, the activity before each quarter of an hour of the present week, and turns it into
 * the week's rows when an event of a later week comes.
 */
export type WeekBuilder = Readonly<{
  /** The present week; null before the first event. */
  week: Ms | null
  /** The activity before each quarter of the present week that has been reached. */
  reached: readonly Activity[]
  /** The newest week that has rows. */
  last: WeekRows | null
}>

export const NO_WEEK: WeekBuilder = { week: null, reached: [], last: null }

/** The first moment at which `advance` has something to do; an event before it changes nothing. */
export function nextQuarter(builder: WeekBuilder): Ms {
  return boundOf(builder.week === null ? 0 : builder.week + builder.reached.length * QUARTER_MS)
}

/**
 * Goes on to an event at `atMs`, with the activity of all events before it. Gives the builder after it and,
 * when that event begins a later week, the rows of the week that it ends.
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
  // The weeks between the last one with rows and this one are empty: each adds the same activity to D.
  const before = full.reached[0] ?? NO_ACTIVITY
  const emptyWeeks = last === null ? 0n : BigInt((week - last.week) / WEEK_MS - 1)
  return Array.from({ length: QUARTERS_OF_WEEK }, (_, index) => {
    const stride = last?.rows[index] ?? NO_ACTIVITY
    return addActivity(addActivity(full.reached[index] ?? NO_ACTIVITY, stride), before, emptyWeeks)
  })
}
