import type { CountableTimeInterval, TimeInterval } from 'd3-time'
import { unixDay, utcHour, utcMinute, utcMonday, utcMonth, utcYear } from 'd3-time'
import { rounded } from '../markup/chart-scale.ts'

/** A mark on a time axis: a fine label, and a coarse one where it changes. */
export type TimeMark = Readonly<{
  share: number
  label: string
  coarse: Readonly<{ label: string; spare: boolean }> | null
  /** Whether it is left out in a narrow picture. */
  spare: boolean
}>

/** Most labels that fit a wide picture, and a narrow one. */
const WIDE_MARKS_MAX = 13
const NARROW_MARKS_MAX = 5
/** Least distance of two coarse labels, as a share of the width, in a wide picture and in a narrow one. */
const WIDE_COARSE_SHARE = 0.1
const NARROW_COARSE_SHARE = 0.4

const DAY_MS = 86_400_000
const MONTH_MS = 30 * DAY_MS
const YEAR_MS = 365 * DAY_MS
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'] as const

type Words = (date: Date) => string
type Step = Readonly<{ ms: number; interval: TimeInterval; label: Words; coarse: Words | null }>

const month: Words = (date) => MONTHS[date.getUTCMonth()] ?? ''
const year: Words = (date) => String(date.getUTCFullYear())
const day: Words = (date) => `${month(date)} ${date.getUTCDate()}`
const yearAndDay: Words = (date) => `${year(date)} ${day(date)}`
const time: Words = (date) => date.toISOString().slice(11, 16)

const STEPS: readonly Step[] = [
  ...[1, 5, 10, 30].map((every) => stepOf(utcMinute, every, 60_000, time, yearAndDay)),
  ...[1, 2, 3, 6, 12].map((every) => stepOf(utcHour, every, 3_600_000, time, yearAndDay)),
  // Every other day of the epoch, not of each month, so that the ends of months have no neighbouring labels.
  ...[1, 2].map((every) => stepOf(unixDay, every, DAY_MS, day, year)),
  // Weeks start on Monday, as the buckets of an answer do.
  stepOf(utcMonday, 1, 7 * DAY_MS, day, year),
  ...[1, 3].map((every) => stepOf(utcMonth, every, MONTH_MS, month, year)),
  ...[1, 2, 5, 10, 50, 100, 1_000].map((every) => stepOf(utcYear, every, YEAR_MS, year, null)),
]

function stepOf(
  unit: CountableTimeInterval,
  every: number,
  unitMs: number,
  label: Words,
  coarse: Words | null,
): Step {
  return { ms: every * unitMs, interval: unit.every(every) ?? unit, label, coarse }
}

/** Label of a day in UTC: `Oct 3`. */
export function dayMark(atMs: number): string {
  return day(new Date(atMs))
}

/** Labels of a month such as `2026-10`: `Oct` above `2026`. */
export function monthMark(text: string): Readonly<{ label: string; coarse: string }> {
  return { label: MONTHS[Number(text.slice(5)) - 1] ?? '', coarse: text.slice(0, 4) }
}

/** Place of a moment on an axis, as a share of its width. */
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
  const step = steps.find(({ ms }) => (toMs - fromMs) / ms <= WIDE_MARKS_MAX) ?? steps.at(-1)
  if (step === undefined || toMs <= fromMs) return []
  const dates = step.interval.range(step.interval.ceil(new Date(fromMs)), new Date(toMs))
  const shares = dates.map((date) => rounded(axis(date)))
  const coarse = coarseMarks(
    dates.map((date) => step.coarse?.(date) ?? null),
    shares,
  )
  const each = Math.ceil(dates.length / NARROW_MARKS_MAX)
  return dates.map((date, index) => ({
    share: shares[index] ?? 0,
    label: step.label(date),
    coarse: coarse[index] ?? null,
    spare: index % each !== 0,
  }))
}

/** Coarse labels where they change. The first one is left out when a change follows closely. */
export function coarseMarks(
  words: readonly (string | null)[],
  shares: readonly number[],
): readonly TimeMark['coarse'][] {
  const change = words.findIndex((word) => word !== words[0])
  const crowded = change > 0 && (shares[change] ?? 0) - (shares[0] ?? 0) < WIDE_COARSE_SHARE
  let shown = Number.NEGATIVE_INFINITY
  return words.map((label, index) => {
    if (label === null || label === words[index - 1] || (index === 0 && crowded)) return null
    const share = shares[index] ?? 0
    const spare = share - shown < NARROW_COARSE_SHARE
    if (!spare) shown = share
    return { label, spare }
  })
}
