import type { Brand } from './brand.ts'

/** Integer milliseconds since 1970-01-01T00:00:00Z. */
export type Ms = Brand<number, 'Ms'>

/** One instant in both forms: `at` (UTC, ISO 8601, three decimals, `Z`) and `atMs`. */
export type Moment = Readonly<{ at: string; atMs: Ms }>

/** A calendar month in UTC, `yyyy-mm`. */
export type Month = Brand<string, 'Month'>

export const SECOND_MS = 1000
export const MINUTE_MS: number = 60 * SECOND_MS
export const QUARTER_MS: number = 15 * MINUTE_MS
export const HOUR_MS: number = 60 * MINUTE_MS
export const DAY_MS: number = 24 * HOUR_MS
export const WEEK_MS: number = 7 * DAY_MS

/** The Monday 1969-12-29, from which weeks are counted (ISO weeks begin on Monday). */
export const FIRST_MONDAY_MS: number = -3 * DAY_MS

/** The latest moment of the protocol, 9999-12-31T23:59:59.999Z: later years need another notation. */
export const MS_MAX: Ms = 253_402_300_799_999 as Ms

const ISO = /^(\d{4})-(\d{2})-(\d{2})(?:T(\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,3}))?)?Z)?$/
const INTEGER = /^(?:0|[1-9]\d{0,15})$/

/** Integers from 1 to this, exclusive, are taken for seconds and refused in a query. */
export const MILLISECONDS_MIN: number = 10 ** 11

/** Brands a number that is known to be a moment; throws outside 1970 to 9999. */
export function msOf(value: number): Ms {
  if (!Number.isSafeInteger(value) || value < 0 || value > MS_MAX) {
    throw new RangeError('a moment is an integer of milliseconds from 1970 to 9999')
  }
  return value as Ms
}

/** Brands a bound of a range, which may lie before 1970 (a week's Monday, a local midnight). */
export function boundOf(value: number): Ms {
  if (!Number.isSafeInteger(value)) throw new RangeError('a bound is an integer of milliseconds')
  return value as Ms
}

/** `2026-10-03T11:22:33.123Z`. */
export function formatAt(ms: Ms): string {
  // A bound may lie outside of the years that events have: `Date` knows the notation of those.
  if (ms < 0 || ms > MS_MAX) return new Date(ms).toISOString()
  const day = Math.floor(ms / DAY_MS)
  const inDay = ms - day * DAY_MS
  const seconds = Math.floor(inDay / SECOND_MS)
  const minutes = Math.floor(seconds / 60)
  const time = `${twoDigits(Math.floor(minutes / 60))}:${twoDigits(minutes % 60)}:${twoDigits(seconds % 60)}`
  return `${dateOf(day)}T${time}.${String(inDay % SECOND_MS).padStart(3, '0')}Z`
}

/** Days from the first of March of the year 0, from which leap days come last in their year, to 1970. */
const DAYS_TO_1970 = 719_468
const DAYS_OF_400_YEARS = 146_097

/**
 * The date of a day since 1970, in the proleptic Gregorian calendar: in arithmetic a third of what `Date` takes for
 * it, and an answer of a thousand buckets writes a thousand. Years begin in March, so that months of five have 153
 * days and the leap day comes last (E. G. Richards, Mapping Time, 1998).
 */
function dateOf(day: number): string {
  const since = day + DAYS_TO_1970
  const era = Math.floor(since / DAYS_OF_400_YEARS)
  const inEra = since - era * DAYS_OF_400_YEARS
  const leapDays = Math.floor(inEra / 1_460) - Math.floor(inEra / 36_524) + Math.floor(inEra / 146_096)
  const yearOfEra = Math.floor((inEra - leapDays) / 365)
  const inYear = inEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const march = Math.floor((5 * inYear + 2) / 153)
  const date = inYear - Math.floor((153 * march + 2) / 5) + 1
  const month = march < 10 ? march + 3 : march - 9
  const year = era * 400 + yearOfEra + (month <= 2 ? 1 : 0)
  return `${year}-${twoDigits(month)}-${twoDigits(date)}`
}

/** Of a number from 0 to 99. */
function twoDigits(value: number): string {
  return TWO_DIGITS[value] ?? String(value)
}

const TWO_DIGITS: readonly string[] = Array.from({ length: 100 }, (_, value) =>
  String(value).padStart(2, '0'),
)

export function moment(ms: Ms): Moment {
  return { at: formatAt(ms), atMs: ms }
}

/** ISO 8601 UTC: a date, or a date and time with `Z`, seconds and milliseconds optional. No other form. */
export function parseAt(text: string): Ms | undefined {
  const match = ISO.exec(text)
  if (match === null) return undefined
  const [, year = '', month = '', day = '', hour = '0', minute = '0', second = '0', fraction = ''] = match
  const ms = Date.UTC(+year, +month - 1, +day, +hour, +minute, +second, +fraction.padEnd(3, '0'))
  // Date.UTC rolls 30 February over and reads years below 100 as 19xx; the round trip shows both.
  const back = new Date(ms)
  const same =
    back.getUTCFullYear() === +year &&
    back.getUTCMonth() === +month - 1 &&
    back.getUTCDate() === +day &&
    +hour < 24 &&
    +minute < 60 &&
    +second < 60
  return same && ms >= 0 ? (ms as Ms) : undefined
}

export type QueryTime = Readonly<{ ms: Ms } | { reason: 'not-a-time' | 'seconds' }>

/** A time in a query: ISO 8601 UTC or integer milliseconds since 1970 (spec, section 1). */
export function parseQueryTime(text: string): QueryTime {
  if (!INTEGER.test(text)) {
    const ms = parseAt(text)
    return ms === undefined ? { reason: 'not-a-time' } : { ms }
  }
  const value = Number(text)
  if (value > 0 && value < MILLISECONDS_MIN) return { reason: 'seconds' }
  return value <= MS_MAX ? { ms: value as Ms } : { reason: 'not-a-time' }
}

/** The greatest multiple of `width` (counted from `origin`) at or before `ms`. */
export function floorTo(ms: Ms, width: number, origin = 0): Ms {
  return (Math.floor((ms - origin) / width) * width + origin) as Ms
}

/** The least multiple of `width` (counted from `origin`) at or after `ms`. */
export function ceilTo(ms: Ms, width: number, origin = 0): Ms {
  return (Math.ceil((ms - origin) / width) * width + origin) as Ms
}

export function later(a: Ms, b: Ms): Ms {
  return a > b ? a : b
}

const MONTH = /^(\d{4})-(0[1-9]|1[0-2])$/

/** `yyyy-mm` from 1970 to 9999; undefined for anything else. */
export function parseMonth(text: string): Month | undefined {
  return MONTH.test(text) && text >= '1970-01' ? (text as Month) : undefined
}

export function monthOf(ms: Ms): Month {
  return formatAt(ms).slice(0, 7) as Month
}

/** The first moment of a month. */
export function monthStart(month: Month): Ms {
  return Date.UTC(+month.slice(0, 4), +month.slice(5, 7) - 1, 1) as Ms
}

/** The month after; its start is the exclusive end of this one. */
export function nextMonth(month: Month): Month {
  const year = +month.slice(0, 4)
  const number = +month.slice(5, 7)
  const next = number === 12 ? [year + 1, 1] : [year, number + 1]
  return `${String(next[0]).padStart(4, '0')}-${String(next[1]).padStart(2, '0')}` as Month
}
