import { InvalidArgumentError, type Option } from 'commander'
import type { EventFilter } from '../../client/filter.ts'
import { SEQ_MAX } from '../../protocol/parameters.ts'
import { EVENT_TYPES, type EventType } from '../../protocol/rules.ts'
import { kindWord, listOf, oneOf, type optionOf, wholeBetween } from '../terminal/options.ts'
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

/** Options that filter events, as commander parses them. */
export type FilterOptions = Readonly<{
  type?: readonly EventType[]
  kind?: readonly string[]
  contestId?: readonly number[]
  nonzero?: true
}>

/** Options that filter events, made by `option`. */
export function filterOptions(option: ReturnType<typeof optionOf>): readonly Option[] {
  return [
    option('--type <types>', 'only events of these types, comma-separated').argParser(
      listOf(oneOf(EVENT_TYPES)),
    ),
    option('--kind <kinds>', 'only events of these kinds, comma-separated').argParser(listOf(kindWord)),
    option('--contest-id <ids>', 'only events of these contests, comma-separated').argParser(
      listOf(wholeBetween(1, SEQ_MAX)),
    ),
    option('--nonzero', 'only events with an amount other than zero'),
  ]
}

export function filterOf({ type, kind, contestId, nonzero }: FilterOptions): EventFilter {
  return { type, kind, contestId, nonzero }
}

/** Parser of a seq; 0 is before the first one. */
export const seqNumber: (text: string) => number = wholeBetween(0, SEQ_MAX)

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

/** Parser of a moment in the past. Future moments are refused, because no event has one. */
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
