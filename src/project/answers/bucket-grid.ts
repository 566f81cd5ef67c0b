import {
  boundOf,
  DAY_MS,
  FIRST_MONDAY_MS,
  floorTo,
  HOUR_MS,
  MINUTE_MS,
  type Ms,
  WEEK_MS,
} from '../../protocol/moment.ts'
import type { Bucket } from '../../protocol/enumerations.ts'

/** Adjacent buckets that cover all of time, in UTC. A *bound* is the start of a bucket. */
export type Grid = Readonly<{
  /** Number of buckets in the default range. */
  buckets: number
  /** Start of the bucket of a moment. */
  floor(ms: Ms): Ms
  /** Bound that lies `buckets` after another, or before it if negative. */
  shift(bound: Ms, buckets: number): Ms
  /** Number of buckets between two bounds. */
  count(from: Ms, to: Ms): number
}>

function evenGrid(widthMs: number, buckets: number, originMs = 0): Grid {
  return {
    buckets,
    floor: (ms) => floorTo(ms, widthMs, originMs),
    shift: (bound, by) => boundOf(bound + by * widthMs),
    count: (from, to) => (to - from) / widthMs,
  }
}

const MONTHS_OF_YEAR = 12

/** Months since January of the year 0, up to the month of a moment. */
function monthIndex(ms: Ms): number {
  const date = new Date(ms)
  return date.getUTCFullYear() * MONTHS_OF_YEAR + date.getUTCMonth()
}

function monthBound(index: number): Ms {
  return boundOf(Date.UTC(Math.floor(index / MONTHS_OF_YEAR), index % MONTHS_OF_YEAR))
}

const MONTHS: Grid = {
  buckets: 36,
  floor: (ms) => monthBound(monthIndex(ms)),
  shift: (bound, by) => monthBound(monthIndex(bound) + by),
  count: (from, to) => monthIndex(to) - monthIndex(from),
}

/** Grid of each bucket. Weeks begin on Monday. Months are calendar months. */
export const GRIDS: Readonly<Record<Bucket, Grid>> = {
  minute: evenGrid(MINUTE_MS, 360),
  hour: evenGrid(HOUR_MS, 168),
  day: evenGrid(DAY_MS, 90),
  week: evenGrid(WEEK_MS, 52, FIRST_MONDAY_MS),
  month: MONTHS,
}

/** Grid of `/patterns`: minutes, with a default range of 28 days. */
export const PATTERN_GRID: Grid = evenGrid(MINUTE_MS, (28 * DAY_MS) / MINUTE_MS)

/** Grid of `/waits`: minutes, with a default range of 90 days. */
export const WAIT_GRID: Grid = evenGrid(MINUTE_MS, (90 * DAY_MS) / MINUTE_MS)

/** First bound at or after a moment. */
export function ceilOn({ floor, shift }: Grid, ms: Ms): Ms {
  const bound = floor(ms)
  return bound === ms ? bound : shift(bound, 1)
}
