import { InvalidArgumentError } from 'commander'
import {
  DAY_MS,
  HOUR_MS,
  MINUTE_MS,
  type Month,
  type Ms,
  msOf,
  parseMonth,
  SECOND_MS,
  WEEK_MS,
} from '../../protocol/moment.ts'
import { parseQueryTime } from '../../protocol/query-time.ts'

const UNITS: Readonly<Record<string, number>> = {
  s: SECOND_MS,
  m: MINUTE_MS,
  h: HOUR_MS,
  d: DAY_MS,
  w: WEEK_MS,
}

export const OPTION_TIME_FORMS =
  '2026-09-01, 2026-09-01T12:00Z, 2026-09, milliseconds since 1970, or how long ago (90s, 2h, 7d)'

/** Parser of a moment: a time as in a query of the API, or a time ago (`90s`, `2h`, `7d`). */
export function timeOption(now: () => Ms): (text: string) => Ms {
  return (text) => {
    const [, count = '', unit = ''] = /^(\d{1,6})([smhdw])$/.exec(text) ?? []
    if (count !== '') return msOf(Math.max(0, now() - Number(count) * (UNITS[unit] ?? 0)))
    const time = parseQueryTime(text)
    if ('ms' in time) return time.ms
    throw new InvalidArgumentError(
      LIKE_A_TIME.test(text) ? `the time ${time.fault.replace(/\.$/, '')}` : NO_TIME,
    )
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

/** Text that is meant as a time of a query, and not as an age. */
const LIKE_A_TIME = /^[+-]?\d[-\d:., T/+Zze]*$/
const NO_TIME = `give one of ${OPTION_TIME_FORMS}`

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
