import { InvalidArgumentError } from 'commander'
import type { Month, Ms } from '../../protocol/moment.ts'
import {
  DAY_MS,
  HOUR_MS,
  MINUTE_MS,
  monthStart,
  msOf,
  parseMonth,
  parseQueryTime,
  SECOND_MS,
  WEEK_MS,
} from '../../protocol/moment.ts'

const UNITS: Readonly<Record<string, number>> = {
  s: SECOND_MS,
  m: MINUTE_MS,
  h: HOUR_MS,
  d: DAY_MS,
  w: WEEK_MS,
}

export const TIME_FORMS =
  '2026-09-01, 2026-09-01T12:00Z, 2026-09, milliseconds since 1970, or how long ago (90s, 2h, 7d)'

/** Parser of a moment: a time as in a query of the API, a month (its beginning), or a time ago (`90s`, `2h`, `7d`). */
export function timeOption(now: () => Ms): (text: string) => Ms {
  return (text) => {
    const [, count = '', unit = ''] = /^(\d{1,6})([smhdw])$/.exec(text) ?? []
    if (count !== '') return msOf(Math.max(0, now() - Number(count) * (UNITS[unit] ?? 0)))
    const month = parseMonth(text)
    if (month !== undefined) return monthStart(month)
    const time = parseQueryTime(text)
    if ('ms' in time) return time.ms
    throw new InvalidArgumentError(faultOf(text, time.reason))
  }
}

/** Parser of a moment in the past: no event has a moment in the future. */
export function pastTimeOption(now: () => Ms): (text: string) => Ms {
  const read = timeOption(now)
  return (text) => {
    const ms = read(text)
    if (ms > now()) throw new InvalidArgumentError('the moment is in the future')
    return ms
  }
}

const DAY_AND_TIME = /^\d{4}-\d\d(?:-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?Z)?)?$/

function faultOf(text: string, reason: 'not-a-time' | 'seconds'): string {
  if (DAY_AND_TIME.test(text)) return 'there is no such day or time since 1970'
  if (/^\d{4}-\d\d-\d\dT/.test(text)) return 'give a time in UTC that ends with Z, such as 2026-09-01T12:00Z'
  // Four digits are probably a year.
  if (reason === 'seconds' && text.length > 4) return 'did you mean milliseconds?'
  return `give one of ${TIME_FORMS}`
}

/** Range of months, both ends inclusive; null for the first or last month of the archive. */
export type MonthRange = Readonly<{ from: Month | null; to: Month | null }>

/** Parses `2026-01..2026-09`, `2026-01..`, `..2026-09` or `2026-09`. */
export function monthRange(text: string): MonthRange {
  const [first = '', last] = text.split('..')
  const from = monthBound(first)
  const to = last === undefined ? from : monthBound(last)
  if (text === '' || text === '..' || text.split('..').length > 2) throw monthsExpected()
  if (from !== null && to !== null && from > to)
    throw new InvalidArgumentError('the first month is after the last')
  return { from, to }
}

function monthBound(text: string): Month | null {
  if (text === '') return null
  const month = parseMonth(text)
  if (month === undefined) throw monthsExpected()
  return month
}

const monthsExpected = (): InvalidArgumentError =>
  new InvalidArgumentError('give months as 2026-09, 2026-01..2026-09, 2026-01.. or ..2026-09')
