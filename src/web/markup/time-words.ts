// Moments in words. Pages and their script share this file, so it uses nothing of Node.

/**
 * Form of a moment that follows the reader's clock. Words of the first four have the reader's time while the moment is
 * to come: `tomorrow 23:00 your time, 14:00 UTC`. `near` and `hour`, which are in columns, leave out "your time".
 *
 * - `full`: `22 Nov 2026 03:49:13 UTC`
 * - `clock`: `24 Nov 08:48 UTC`, with the year if it is another
 * - `near`: the same from yesterday on; of an earlier moment its day, `8 Nov`
 * - `hour`: `15:01 UTC`, below the heading of its day
 * - `until`: `in 2 h 9 min`, or `1 h 6 min ago`
 * - `span`: `13 days` or `18 h 49 min`, the time between
 */
export type TimeForm = 'full' | 'clock' | 'near' | 'hour' | 'until' | 'span'

/**
 * Form of a moment that is the same for every reader.
 *
 * - `cell`: `24 Nov 08:48`, below a column head that names UTC, with the year if it is another
 * - `dayname`: `Tue`
 * - `short`: `24 Nov`, with the year if it is another
 * - `date`: `22 Nov 2026`
 */
export type DayForm = 'cell' | 'dayname' | 'short' | 'date'

/** Milliseconds that a reader's clock is ahead of UTC at a moment. */
export type ReaderZone = (ms: number) => number

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
/** Days after today that are named by weekday. */
const WEEKDAYS_NEAR = 6
/** Time from which a span has whole days. */
const WHOLE_DAYS_FROM = 2 * DAY

/** Words for a moment; both times are in milliseconds. In UTC, and for a future moment also in the zone, if given. */
export function timeWords(form: TimeForm, at: number, now: number, zone?: ReaderZone): string {
  const [date, year, clock, time] = partsOf(at)
  const day = dayIn(date, year, now)
  switch (form) {
    case 'until':
      if (Math.abs(at - now) < MINUTE) return 'now'
      return at > now ? `in ${spanWords(at - now)}` : `${spanWords(now - at)} ago`
    case 'span':
      return spanWords(Math.abs(at - now))
    case 'hour':
    case 'full':
    case 'near':
    case 'clock':
      if (zone !== undefined && at > now) return comingWords(form, at, now, zone)
      if (form === 'hour') return `${clock} UTC`
      if (form === 'full') return `${date} ${year} ${time} UTC`
      return form === 'near' && dayOf(at) < dayOf(now) - 1 ? day : `${day} ${clock} UTC`
  }
}

/** Words in UTC for a moment, both in milliseconds. */
export function dayWords(form: DayForm, at: number, now = 0): string {
  const [date, year, clock, , weekday] = partsOf(at)
  const day = dayIn(date, year, now)
  switch (form) {
    case 'date':
      return `${date} ${year}`
    case 'dayname':
      return weekday
    case 'short':
      return day
    case 'cell':
      return `${day} ${clock}`
  }
}

/** Future moment on the reader's clock, with UTC beside it: `tomorrow 08:00 your time, 28 Nov 23:00 UTC`. */
function comingWords(form: TimeForm, at: number, now: number, zone: ReaderZone): string {
  const ahead = zone(at)
  const present = now + zone(now)
  const [date, , clock] = partsOf(at)
  const [localDate, year, localClock, , weekday] = partsOf(at + ahead)
  const days = dayOf(at + ahead) - dayOf(present)
  const far = dayIn(localDate, year, present)
  const day = ['today', 'tomorrow'][days] ?? (days <= WEEKDAYS_NEAR ? `${weekday} ${far}` : far)
  // The heading of an hour has the UTC day.
  const other = form === 'hour' || date === localDate ? '' : `${date} `
  const whose = form === 'hour' || form === 'near' ? '' : ' your time'
  return `${day} ${ahead === 0 ? '' : `${localClock + whose}, ${other}`}${clock} UTC`
}

/** Date, with its year unless it is the current one. */
function dayIn(date: string, year: string, now: number): string {
  return year === partsOf(now)[1] ? date : `${date} ${year}`
}

const dayOf = (ms: number): number => Math.floor(ms / DAY)

/** Date, year, clock, time and weekday of a moment: `23 Nov`, `2026`, `11:50`, `11:50:00` and `Mon`. */
function partsOf(
  ms: number,
): readonly [date: string, year: string, clock: string, time: string, weekday: string] {
  // "Mon, 23 Nov 2026 11:50:00 GMT" has all parts.
  const [weekday = '', day = '', month = '', year = '', time = ''] = new Date(ms).toUTCString().split(/,? /)
  return [`${+day} ${month}`, year, time.slice(0, 5), time, weekday]
}

/** Time between two moments of the API: `2 days`. */
export function spanBetween(from: string, to: string): string {
  return spanWords(Math.abs(Date.parse(to) - Date.parse(from)))
}

/** Hours up to which a bound of time has hours. */
const HOUR_BOUND_MAX = 96

/** Time within which something happened, in milliseconds, rounded up to hours, or to days when it is longer than 96 hours. */
export function timeBound(ms: number): number {
  const hours = Math.max(1, Math.ceil(ms / HOUR))
  return hours <= HOUR_BOUND_MAX ? hours * HOUR : Math.ceil(ms / DAY) * DAY
}

/** Time within which something happened, rounded up so that it is true: `62 hours`, from five days on `12 days`. */
export function withinWords(ms: number): string {
  const hours = timeBound(ms) / HOUR
  if (hours === 1) return 'an hour'
  return hours <= HOUR_BOUND_MAX ? `${hours} hours` : `${dayOf(hours * HOUR)} days`
}

/** Time that something has waited, cut so that it is true: `71 hours`, from four days on `12 days`. */
export function waitedWords(ms: number): string {
  const hours = Math.floor(ms / HOUR)
  if (hours < 1) return 'less than an hour'
  if (hours === 1) return 'an hour'
  return hours < HOUR_BOUND_MAX ? `${hours} hours` : `${Math.floor(ms / DAY)} days`
}

/** Length of time in at most two units: `41 min`, `9 h 9 min`, `1 d 4 h`, `5 days`. */
function spanWords(ms: number): string {
  if (ms >= WHOLE_DAYS_FROM) return `${dayOf(ms)} days`
  const [large, small, one, other] = ms < DAY ? [HOUR, MINUTE, 'h', 'min'] : [DAY, HOUR, 'd', 'h']
  const rest = `${Math.floor((ms % large) / small)} ${other}`
  if (ms < large) return rest
  return `${Math.floor(ms / large)} ${one}${rest.startsWith('0') ? '' : ` ${rest}`}`
}
