import {
  calendarMs,
  DAY_MS,
  floorTo,
  type Month,
  monthOf,
  type Ms,
  msOf,
  parseMonth,
} from '../../../protocol/moment.ts'

/** Time that a text names: a month, a day of UTC by its first moment, or a moment within a day. */
type SpokenTime = Readonly<
  { is: 'month'; month: Month } | { is: 'day'; from: Ms } | { is: 'moment'; from: Ms }
>

const MONTHS = [
  'january',
  'february',
  'march',
  'april',
  'may',
  'june',
  'july',
  'august',
  'september',
  'october',
  'november',
  'december',
]
/** A month by its name, or by the first letters of it. */
const MONTH = String.raw`(?<month>[a-z]{3,9})\.?`
const DAY = String.raw`(?<day>\d{1,2})(?:st|nd|rd|th)?`
const YEAR = String.raw`(?:,? (?<year>\d{4}))?`
const CLOCK = String.raw`(?:,? (?<hour>\d{1,2}):(?<minute>\d{2})(?::(?<second>\d{2})(?:\.\d+)?)?)?(?: utc)?`
const WEEKDAY = String.raw`(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?,? )?`

/** Forms in which pages print a time, and in which people write one: `28 Oct 2026, 14:00 UTC`, `October 2026`. */
const FORMS: readonly RegExp[] = [
  `${WEEKDAY}${DAY} ${MONTH}${YEAR}${CLOCK}`,
  `${WEEKDAY}${MONTH} ${DAY}${YEAR}${CLOCK}`,
  `(?<near>yesterday|today|tomorrow)${CLOCK}`,
  `${MONTH}${YEAR}`,
].map((form) => new RegExp(`^${form}$`, 'i'))
const YEAR_FIRST = new RegExp(
  String.raw`^(?<year>\d{4})[-/.](?<month>\d{1,2})[-/.](?<day>\d{1,2})${CLOCK}$`,
  'i',
)
const YEAR_LAST = /^(\d{1,2})[/.-](\d{1,2})[/.-](\d{4})$/
/** A moment to come on the reader's clock, with UTC beside it: `Tue 1 Dec 03:35, 30 Nov 18:35 UTC`. */
const TWO_CLOCKS =
  /^(?<day>.+) (?<local>\d{1,2}:\d{2}), (?:(?<other>\d{1,2} [a-z]{3}) )?(?<clock>\d{1,2}:\d{2} utc)$/i
const NEAR = ['yesterday', 'today', 'tomorrow']

/**
 * Times that a text may name, in UTC: none, one, or two where day and month can be exchanged (`11/12/2026`). A date
 * without a year is the one nearest to `now`; a month without one is the newest that has begun.
 */
export function spokenTimes(text: string, now: Ms): readonly SpokenTime[] {
  const dated = YEAR_FIRST.exec(text)?.groups
  if (dated !== undefined) {
    const first = dayMs(dated['year'], dated['month'], dated['day'])
    return first === undefined ? [] : timeOn(first, dated)
  }
  // The day comes first in most countries, and the month in some.
  const [, first, second, last] = YEAR_LAST.exec(text) ?? []
  if (last !== undefined) return daysOf(dayMs(last, second, first), dayMs(last, first, second))
  const plain = text.replaceAll(/\s+/g, ' ').replace(/ so far$/i, '')
  const { day: local, other, clock = '', ...clocks } = TWO_CLOCKS.exec(plain)?.groups ?? {}
  if (local !== undefined) {
    // "Today" is the reader's. Without a date of UTC both clocks show the same day.
    const ahead = other === undefined ? clockMs(clocks['local']) - clockMs(clock) : 0
    return spokenTimes(`${other ?? local} ${clock}`, msOf(now + ahead))
  }
  const parts = FORMS.map((form) => form.exec(plain)?.groups).find((groups) => groups !== undefined)
  if (parts === undefined) return []
  if (parts['near'] !== undefined) {
    const days = NEAR.indexOf(parts['near'].toLowerCase()) - 1
    return timeOn(floorTo(now, DAY_MS) + days * DAY_MS, parts)
  }
  const named = (parts['month'] ?? '').toLowerCase()
  const number = MONTHS.findIndex((name) => name.startsWith(named)) + 1
  if (number === 0) return []
  if (parts['day'] === undefined) return namedMonth(number, parts['year'], now)
  const day = nearestDay(parts['day'], number, parts['year'], now)
  return day === undefined ? [] : timeOn(day, parts)
}

/**
 * Range that a text names by two times, as pages of figures do: `1 to 19 November 2026`. `to` is exclusive. Undefined for
 * anything else.
 */
export function spokenRange(text: string, now: Ms): Readonly<{ from: Ms; to: Ms }> | undefined {
  const [, first = '', last = ''] = /^(.+?) to (.+)$/i.exec(text.replace(/ utc$/i, '')) ?? []
  const [end] = spokenTimes(last, now)
  if (end === undefined) return undefined
  // The first has only what both do not share.
  const shared = last.split(' ').filter((part) => !part.includes(':'))
  const [start] = [1, 2, 3].flatMap((kept) => {
    const [named, clock = ''] = first.split(/ (?=\d{1,2}:)/)
    return spokenTimes([named, ...shared.slice(kept), clock].join(' ').trim(), now)
  })
  if (start === undefined || start.is !== end.is) return undefined
  const from = startOf(start)
  const to = endOf(end)
  return from < to ? { from, to } : undefined
}

function startOf(time: SpokenTime): Ms {
  return time.is === 'month' ? msOf(Date.parse(time.month)) : time.from
}

/** First moment after a time. */
function endOf(time: SpokenTime): Ms {
  if (time.is === 'moment') return time.from
  if (time.is === 'day') return msOf(time.from + DAY_MS)
  const [year = 0, month = 0] = time.month.split('-').map(Number)
  return msOf(Date.UTC(year, month))
}

type Groups = Readonly<Record<string, string | undefined>>

function daysOf(...days: readonly (number | undefined)[]): readonly SpokenTime[] {
  return [...new Set(days)].flatMap((day) => (day === undefined ? [] : [{ is: 'day', from: msOf(day) }]))
}

function namedMonth(month: number, year: string | undefined, now: Ms): readonly SpokenTime[] {
  const present = monthOf(now)
  const own = Number(present.slice(0, 4))
  const digits = String(month).padStart(2, '0')
  const meant = year ?? (digits > present.slice(5) ? own - 1 : own)
  const parsed = parseMonth(`${meant}-${digits}`)
  return parsed === undefined ? [] : [{ is: 'month', month: parsed }]
}

/** First moment of a day; without a year that of the day nearest to now. */
function nearestDay(day: string, month: number, year: string | undefined, now: Ms): number | undefined {
  if (year !== undefined) return dayMs(year, month, day)
  const own = Number(monthOf(now).slice(0, 4))
  return [own - 1, own, own + 1]
    .flatMap((one) => dayMs(one, month, day) ?? [])
    .toSorted((a, b) => Math.abs(a - now) - Math.abs(b - now))[0]
}

type Digits = string | number | undefined

/** First moment of a day; undefined for a day that does not exist. */
function dayMs(year: Digits, month: Digits, day: Digits): number | undefined {
  const date = { year: Number(year), month: Number(month), day: Number(day) }
  const ms = calendarMs({ ...date, hour: 0, minute: 0, second: 0, ms: 0 })
  return ms === undefined || ms < 0 ? undefined : ms
}

/** Time since midnight of `14:05`. */
function clockMs(clock = ''): number {
  const [hour, minute] = clock.split(/[: ]/).map(Number)
  return ((hour ?? 0) * 60 + (minute ?? 0)) * 60_000
}

/** The day, or the moment on it that the clock says. */
function timeOn(day: number, { hour, minute, second = '0' }: Groups): readonly SpokenTime[] {
  if (day < 0) return []
  if (hour === undefined) return [{ is: 'day', from: msOf(day) }]
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return []
  const seconds = (Number(hour) * 60 + Number(minute)) * 60 + Number(second)
  return [{ is: 'moment', from: msOf(day + seconds * 1_000) }]
}
