import {
  boundOf,
  DAY_MS,
  floorTo,
  HOUR_MS,
  MINUTE_MS,
  type Month,
  monthOf,
  monthStart,
  type Ms,
  MS_MAX,
  msOf,
  nextMonth,
  parseMonth,
} from '../../../protocol/moment.ts'
import { parseQueryTime } from '../../../protocol/query-time.ts'

/** Time in a text: a month, a UTC day by its first moment, or a moment within a day. */
type SpokenTime = Readonly<{ is: 'month'; month: Month } | { is: 'day' | 'moment'; from: Ms }>

/** Names of months and weekdays. A text may have the first three letters of one, or more. */
const NAMES =
  'january february march april may june july august september october november december ' +
  'monday tuesday wednesday thursday friday saturday sunday'
const NEAR = ['yesterday', 'today', 'tomorrow']
const YEARS_NEAR = [-1, 0, 1]
/** Future moment on a reader's clock, with UTC beside it: `Tue 1 Dec 03:35 your time, 30 Nov 18:35 UTC`. */
const TWO_CLOCKS = /^(.+) (\d{1,2}:\d{2})(?: your time)?, (?:(\d{1,2} [a-z]{3}) )?(\d{1,2}:\d{2}) utc$/i

/**
 * Times in a text, in UTC, in the forms of the API, of pages and in common use: `28 Oct 2026, 14:00 UTC`,
 * `October 2026`, `yesterday`, `15/11/2026`. A date without a year is the one nearest to `now`. A month without one is
 * the newest that has begun. Two days if day and month can be swapped, such as `2/10/2026`; none for anything else.
 */
export function spokenTimes(text: string, now: Ms): readonly SpokenTime[] {
  return distinct(readingsOf(text).map((reading) => spokenTime(reading, now)))
}

/** Range of moments. `to` is exclusive. */
export type SpokenRange = Readonly<{ from: Ms; to: Ms }>

/**
 * Ranges between two times in a text: `1 to 19 November 2026`, `1 Oct - 5 Oct`, `2026-10-01..2026-10-05`. Its last day
 * or month belongs to it. Without a year, the newest that has begun. None for anything else.
 */
export function spokenRanges(text: string, now: Ms): readonly SpokenRange[] {
  const spaced = text
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/^from | utc\b/gi, '')
    .split(/ ?(?:\.{2,3}|[–—]) ?| (?:to|until|-) /i)
  const [first, last, ...others] = spaced.length === 1 ? text.split('-') : spaced
  if (first === undefined || last === undefined || others.length > 0) return []
  const [start, end] = [completed(first, last), completed(last, first)]
  const crosses = start === first && end === last
  const ends = readingsOf(end)
  return distinct(readingsOf(start).map((one, index) => newestRange(one, ends[index] ?? '', now, crosses)))
}

/** Side of a range with the month that only its other side has: `1` beside `5 Oct` is `Oct 1`. */
function completed(side: string, other: string): string {
  const month = other.match(/[a-z]{3,}/gi)?.at(-1)
  return month === undefined || /[a-z]{3}|\d[-/.]\d/i.test(side) ? side : `${month} ${side}`
}

/** Newest range between two sides that has begun. `crosses`: whether it may begin in the year before its end. */
function newestRange(start: string, end: string, now: Ms, crosses: boolean): SpokenRange | undefined {
  const year = /\d{4}/.exec(end)?.map(Number)
  const present = new Date(now).getUTCFullYear()
  const years = year ?? [present, present - 1]
  const pairs = [...years.map((one) => [one, one]), ...(crosses ? years.map((one) => [one - 1, one]) : [])]
  return pairs
    .map(([startYear = 0, endYear = 0]): SpokenRange | undefined => {
      const first = spokenTime(dated(start, startYear), now)
      const last = spokenTime(dated(end, endYear), now)
      if (first === undefined || last === undefined) return undefined
      const [{ from }, { to }] = [boundsOf(first), boundsOf(last)]
      const isShort = startYear === endYear || to - from < 365 * DAY_MS
      return from < to && from <= now && isShort ? { from, to } : undefined
    })
    .find((range) => range !== undefined)
}

/** Text with a year after its date, unless it has one or needs none. */
function dated(text: string, year: number): string {
  return /\d{4}|day|tomorrow/i.test(text) ? text : text.replace(/( \d{1,2}:.*)?$/, ` ${year}$1`)
}

/** First moment of a time, and the first one after it. */
function boundsOf(time: SpokenTime): SpokenRange {
  if (time.is === 'month') return { from: monthStart(time.month), to: monthStart(nextMonth(time.month)) }
  return { from: time.from, to: time.is === 'day' ? boundOf(time.from + DAY_MS) : time.from }
}

/** Two readings of a text, of which the first has the day before the month. */
function readingsOf(text: string): readonly string[] {
  const slashed = text.replace(/^(?!\d{4}-)(\d{1,4})([-.])(\d{1,2})\2(?=\d)/, '$1/$3/')
  const dayFirst = slashed.replace(/^(\d{1,2})\/(\d{1,2})\/(?=\d{4})/, '$2/$1/')
  // A date with points has its day first.
  return [dayFirst, text.includes('.') ? dayFirst : slashed]
}

function distinct<T>(readings: readonly (T | undefined)[]): readonly T[] {
  const known = readings.filter((reading) => reading !== undefined)
  return [...new Map(known.map((reading) => [JSON.stringify(reading), reading])).values()]
}

/** Time in a text. Reads the month of `10/2/2026` first. */
function spokenTime(text: string, now: Ms): SpokenTime | undefined {
  const asMonth = parseMonth(text)
  if (asMonth !== undefined) return { is: 'month', month: asMonth }
  const asked = parseQueryTime(text)
  if ('ms' in asked && !/^\d+$/.test(text))
    return { is: text.includes('T') ? 'moment' : 'day', from: asked.ms }
  return timeInWords(text, now)
}

function timeInWords(text: string, now: Ms): SpokenTime | undefined {
  const [, day, local = '', utcDay, utc = ''] = TWO_CLOCKS.exec(text) ?? []
  if (day !== undefined) {
    // Without a day of UTC both clocks have the same day. "Today" is the reader's.
    const ahead = utcDay === undefined ? clockMs(local) - clockMs(utc) : 0
    return timeInWords(`${utcDay ?? day} ${utc}`, msOf(now + ahead))
  }
  const words = text
    .toLowerCase()
    .replace(/ utc$/, '')
    .replace(/^(?:yesterday|today|tomorrow)\b/, (near) => dateOf(now + (NEAR.indexOf(near) - 1) * DAY_MS))
    .replaceAll(/(\d)(?:st|nd|rd|th)\b/g, '$1')
    .replaceAll(/[,.\s]+/g, ' ')
    .trim()
  const isNamed = (words.match(/[a-z]+/g) ?? []).every(
    (word) => word.length > 2 && ` ${NAMES}`.includes(` ${word}`),
  )
  if (!isNamed || !/^[a-z\d :/-]+$/.test(words)) return undefined
  const [, month, year] = /^([a-z]+)(?: (\d{4}))?$/.exec(words) ?? []
  if (month !== undefined) return monthNamed(month, year, now)
  const hasYear = /\d{4}/.test(words)
  // `5-6` may be a title.
  if (!hasYear && !/[a-z]/.test(words)) return undefined
  const years = hasYear ? [''] : YEARS_NEAR.map((apart) => ` ${new Date(now).getUTCFullYear() + apart}`)
  const [, date = '', clock = ''] =
    /^([^:]*[a-z/-][^:]*?)(?: (\d{1,2}:\d{2}(?::\d{2})?)(?: \d{3})?)?$/.exec(words) ?? []
  const [nearest] = years
    .map((own) => Date.parse(`${date}${own} ${clock} UTC`))
    .filter(
      (ms) =>
        ms >= 0 &&
        ms <= MS_MAX &&
        isDateOf(`${date}${years.length > 1 ? ` ${new Date(ms).getUTCFullYear()}` : ''}`, ms),
    )
    .toSorted((a, b) => Math.abs(a - now) - Math.abs(b - now))
  if (nearest === undefined) return undefined
  return { is: clock === '' ? 'day' : 'moment', from: msOf(nearest) }
}

/** Time since midnight of `14:05`. */
function clockMs(clock: string): number {
  const [hours = 0, minutes = 0] = clock.split(':').map(Number)
  return hours * HOUR_MS + minutes * MINUTE_MS
}

/** Whether a date has the numbers of a moment. The parser takes 31 November as the first day of December. */
function isDateOf(date: string, ms: number): boolean {
  const at = new Date(ms)
  const month = /[a-z]/.test(date) ? [] : [at.getUTCMonth() + 1]
  const numbers = [at.getUTCFullYear(), ...month, at.getUTCDate()]
  const said = (date.match(/\d+/g) ?? []).map(Number)
  return said.toSorted((a, b) => a - b).join() === numbers.toSorted((a, b) => a - b).join()
}

function dateOf(ms: number): string {
  return new Date(floorTo(msOf(ms), DAY_MS)).toISOString().slice(0, 10)
}

function monthNamed(name: string, year: string | undefined, now: Ms): SpokenTime | undefined {
  const number = NAMES.split(' ').findIndex((one) => one.startsWith(name)) + 1
  const digits = String(number).padStart(2, '0')
  const present = monthOf(now)
  const own = Number(present.slice(0, 4)) - (digits > present.slice(5) ? 1 : 0)
  const month = parseMonth(`${year ?? own}-${digits}`)
  return month === undefined ? undefined : { is: 'month', month }
}
