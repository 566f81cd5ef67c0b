import {
  type CountableTimeInterval,
  type TimeInterval,
  unixDay,
  utcHour,
  utcMinute,
  utcMonday,
  utcMonth,
  utcYear,
} from 'd3-time'
import type { Bucket } from '../../protocol/enumerations.ts'
import { rounded } from '../markup/chart-scale.ts'

/** Mark on a time axis, and the plots in which its label fits: all, wide ones only, or none. */
export type TimeMark = Readonly<{ share: number; label: string; fits: 'both' | 'wide' | 'none' }>

/** Plots in which labels fit: the least width of each in pixels, and the most labels. */
const WIDE = { width: 512, marks: 9 }
const NARROW = { width: 240, marks: 4 }
/** Room in pixels that a label has from its mark to the end of the plot. A long one takes a few of the page's edge. */
const LABEL_WIDTH = 48

const DAY_MS = 86_400_000
const MONTH_MS = 30 * DAY_MS
const YEAR_MS = 365 * DAY_MS
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'] as const

type Words = (date: Date) => string
type Step = Readonly<{ ms: number; interval: TimeInterval; label: Words; plain: Words }>

const month: Words = (date) => MONTHS[date.getUTCMonth()] ?? ''
const year: Words = (date) => String(date.getUTCFullYear())
const day: Words = (date) => `${date.getUTCDate()} ${month(date)}`
const time: Words = (date) => date.toISOString().slice(11, 16)
/** The day at midnight, else the time. */
const timeOrDay: Words = (date) => (date.getTime() % DAY_MS === 0 ? day(date) : time(date))
/** The year in January, else the month. */
const monthOrYear: Words = (date) => (date.getUTCMonth() === 0 ? year(date) : month(date))

const STEPS: readonly Step[] = [
  ...[1, 5, 10, 30].map((every) => stepOf(utcMinute, every, 60_000, timeOrDay, time)),
  ...[1, 2, 3, 6, 12].map((every) => stepOf(utcHour, every, 3_600_000, timeOrDay, time)),
  // Every other day since 1970, not of each month, so that the ends of months have no neighbouring labels.
  ...[1, 2].map((every) => stepOf(unixDay, every, DAY_MS, day)),
  // Weeks start on Monday, as the buckets of an answer do.
  stepOf(utcMonday, 1, 7 * DAY_MS, day),
  ...[1, 3].map((every) => stepOf(utcMonth, every, MONTH_MS, monthOrYear, month)),
  ...[1, 2, 5, 10, 50, 100, 1_000].map((every) => stepOf(utcYear, every, YEAR_MS, year)),
]

/** Step whose labels are `plain`, except where a day or a year begins. */
function stepOf(
  unit: CountableTimeInterval,
  every: number,
  unitMs: number,
  label: Words,
  plain = label,
): Step {
  return { ms: every * unitMs, interval: unit.every(every) ?? unit, label, plain }
}

/** Label of a day in UTC: `3 Oct`. */
export function dayMark(atMs: number): string {
  return day(new Date(atMs))
}

/** Label of a month such as `2026-10`: `Oct`, or the year in January. */
export function monthMark(text: string): string {
  return monthOrYear(new Date(`${text}-01T00:00:00Z`))
}

/** Short name of the bucket that begins at a moment: `3 Oct`, `3 Oct 14:00` or `Oct 2026`. */
export function bucketMark(bucket: Bucket, atMs: number): string {
  const date = new Date(atMs)
  if (bucket === 'month') return `${month(date)} ${year(date)}`
  return bucket === 'day' || bucket === 'week' ? day(date) : `${day(date)} ${time(date)}`
}

/** Position of a moment on an axis, as a share of its width. */
type Axis = (date: Date) => number

/** Marks of `[fromMs, toMs)` at round moments in UTC. */
export function timeMarks(fromMs: number, toMs: number): readonly TimeMark[] {
  return marksOn((date) => (date.getTime() - fromMs) / (toMs - fromMs), STEPS, fromMs, toMs)
}

/** Marks of whole months on an axis where each month has the same width. */
export function monthMarks(fromMs: number, toMs: number): readonly TimeMark[] {
  const [first, end] = [new Date(fromMs), new Date(toMs)]
  const months = utcMonth.count(first, end)
  const steps = STEPS.filter(({ ms }) => ms >= MONTH_MS)
  return marksOn((date) => utcMonth.count(first, date) / months, steps, fromMs, toMs)
}

function marksOn(axis: Axis, steps: readonly Step[], fromMs: number, toMs: number): readonly TimeMark[] {
  const step = steps.find(({ ms }) => (toMs - fromMs) / ms <= WIDE.marks) ?? steps.at(-1)
  if (step === undefined || toMs <= fromMs) return []
  const dates = step.interval.range(step.interval.ceil(new Date(fromMs)), new Date(toMs))
  // Times without a label that names their day would be ambiguous.
  const anchor = dates.findIndex((date) => step.label(date) !== step.plain(date))
  const marks = dates.map((date) => ({ share: rounded(axis(date)), label: step.label(date) }))
  return fittingMarks(marks, Math.max(0, anchor))
}

/**
 * Marks whose labels fit the plots: none is cut at the end or covers another. When only every nth label fits, the one
 * at `anchor` is among them.
 */
export function fittingMarks(
  marks: readonly Pick<TimeMark, 'share' | 'label'>[],
  anchor = 0,
): readonly TimeMark[] {
  const each = Math.ceil(marks.length / WIDE.marks)
  const eachNarrow = each * Math.ceil(marks.length / each / NARROW.marks)
  return marks.map((mark, index) => {
    const fitsIn = (width: number, every: number): boolean =>
      (index - anchor) % every === 0 && mark.share * width + LABEL_WIDTH <= width
    const isNarrow = fitsIn(NARROW.width, eachNarrow)
    return { ...mark, fits: isNarrow ? 'both' : fitsIn(WIDE.width, each) ? 'wide' : 'none' }
  })
}
