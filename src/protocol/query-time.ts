import {
  calendarMs,
  DAY_MS,
  formatAt,
  HOUR_MS,
  MILLISECONDS_MIN,
  MINUTE_MS,
  type Ms,
  MS_MAX,
} from './moment.ts'

/**
 * Time in a query, or its fault. The fault is the rest of a sentence that begins with the parameter's name. It repeats
 * nothing of the text but the moment computed from it.
 */
type QueryTime = Readonly<{ ms: Ms } | { fault: string }>

/** Zone of UTC, or another offset. A blank is a `+` that a query has decoded. */
const ZONE = String.raw`Z|[+\- ]\d{2}(?::?\d{2})?`
const ISO = new RegExp(
  String.raw`^(\d{4})-(\d{2})(?:-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d+))?)?(${ZONE})?)?)?$`,
)
/** Refused forms that show which moment is meant. */
const NEARLY_ISO = new RegExp(
  String.raw`^(\d{4})[-/.](\d{1,2})(?:[-/.](\d{1,2})(?:[T_ ](\d{1,2})(?::(\d{2})(?::(\d{2})(?:[.,](\d+))?)?)? ?(${ZONE}|UTC|GMT)?(?: UTC| ?\[[A-Z_/+-]{1,40}\])?)?)?$`,
  'i',
)
const OFFSET = /^([+\- ])(\d{2}):?(\d{2})?$/
const INTEGER = /^(?:0|[1-9]\d*)$/
/** Numbers that are not plain integers: signs, exponents, decimals, leading zeros. A blank may be a decoded `+`. */
const NUMBER = /^[+\- ]?\d+(?:\.\d+)?(?:e[+\- ]?\d+)?$/i

/** Examples of the forms of a time in a query. */
export const TIME_FORMS = '2026-10, 2026-10-01 or 2026-10-01T12:00:00Z, or integer milliseconds since 1970'

/**
 * Parses a time in a query: a month, a day, a time in UTC (ISO 8601, RFC 3339), or integer milliseconds since 1970.
 * Accepts the forms that common tools print. Cuts off decimals after milliseconds.
 */
export function parseQueryTime(text: string): QueryTime {
  if (NUMBER.test(text)) return parseNumber(text)
  const match = ISO.exec(text)
  if (match !== null) return momentOf(match)
  const meant = NEARLY_ISO.exec(text)
  const near = meant === null ? undefined : momentOf(meant)
  if (near !== undefined && 'ms' in near)
    return { fault: `must be written another way: did you mean ${formatAt(near.ms)}?` }
  return near ?? { fault: `must be a time in UTC, such as ${TIME_FORMS}.` }
}

/**
 * Text of a parsed time for a link. Keeps the given text unless it is long or needs encoding; then it has the form of
 * `at`.
 */
export function plainTime(text: string, ms: Ms): string {
  return /^[\dTZ:.-]{1,24}$/.test(text) ? text : formatAt(ms)
}

function parseNumber(text: string): QueryTime {
  if (!INTEGER.test(text)) {
    const fault =
      'as a number must be integer milliseconds since 1970 in plain digits, without a sign, an exponent or decimals.'
    return { fault }
  }
  const value = Number(text)
  if (value > 0 && value < MILLISECONDS_MIN) {
    const fault =
      'as an integer counts milliseconds since 1970, and this one is too small: did you mean milliseconds? ' +
      'A date is written 2026-10-01.'
    return { fault }
  }
  return value <= MS_MAX ? { ms: value as Ms } : { fault: OUT_OF_YEARS }
}

const OUT_OF_YEARS = 'must be a moment from 1970 to 9999.'

/** Moment of the parts of a time: year, month, day, hour, minute, second, fraction, zone. */
function momentOf(parts: RegExpExecArray): QueryTime {
  const [, year = '', month = '', day = '1', hour, minute = '0', second = '0', fraction = '', zone] = parts
  const local = calendarMs({
    year: Number(year),
    month: Number(month),
    day: Number(day),
    hour: Number(hour ?? 0),
    minute: Number(minute),
    second: Number(second),
    ms: Number(fraction.slice(0, 3).padEnd(3, '0')),
  })
  if (local === undefined) return { fault: 'names a day or a time of day that does not exist.' }
  if (hour !== undefined && zone === undefined)
    return { fault: 'has no time zone: end it with Z when it is UTC, such as 2026-10-01T12:00:00Z.' }
  const offset = offsetOf(zone)
  if (offset === undefined)
    return { fault: 'has a time zone that does not exist: end it with Z when it is UTC.' }
  const ms = local - offset
  if (ms < 0 || ms > MS_MAX) return { fault: OUT_OF_YEARS }
  if (offset === 0) return { ms: ms as Ms }
  return { fault: `must be in UTC, and has another offset: give the same moment as ${formatAt(ms as Ms)}.` }
}

/** Milliseconds by which a zone is ahead of UTC; undefined for a day or more. */
function offsetOf(zone: string | undefined): number | undefined {
  const [, sign, hours = '0', minutes = '0'] = OFFSET.exec(zone ?? '') ?? []
  const size = Number(hours) * HOUR_MS + Number(minutes) * MINUTE_MS
  if (Number(minutes) > 59 || size >= DAY_MS) return undefined
  return size === 0 || sign !== '-' ? size : -size
}
