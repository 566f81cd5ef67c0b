// Moments as people write them. Pages and their script share this file, so it uses nothing of Node.

/**
 * Form of a moment. Words of the first four are made for a reader's time zone while the moment is to come:
 * `tomorrow 23:00, 14:00 UTC`.
 *
 * - `full`: `22 Nov 2026 03:49:13 UTC`
 * - `clock`: `24 Nov 08:48 UTC`, with the year if it is another
 * - `near`: the same from yesterday on; of an earlier moment its day, `8 Nov`
 * - `hour`: `15:01 UTC`, below the heading of its day
 * - `cell`: `24 Nov 08:48`, below a column head that names UTC
 * - `dayname`: `Tue`
 * - `short`: `24 Nov`, with the year if it is another
 * - `date`: `22 Nov 2026`
 * - `until`: `in 2 h 9 min`, or `1 h 6 min ago`
 * - `span`: `13 days` or `18 h 49 min`, the time between
 */
export type TimeForm =
  | 'full'
  | 'clock'
  | 'near'
  | 'hour'
  | 'cell'
  | 'dayname'
  | 'short'
  | 'date'
  | 'until'
  | 'span'

/** Milliseconds that a reader's clock is ahead of UTC at a moment. */
export type ReaderZone = (ms: number) => number

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
/** Days after today that are named by weekday. */
const WEEKDAYS_NEAR = 6
/** Time from which a span has whole days. */
const WHOLE_DAYS_FROM = 2 * DAY
const PARTS = /(\w+), 0?(\d+ \w+) (\d+) (..:..)(...)/

/** Words for a moment, both in milliseconds: in UTC, and in the zone too if there is one and the moment is to come. */
export function timeWords(form: TimeForm, at: number, now: number, zone?: ReaderZone): string {
  const { weekday, date, year, clock, seconds } = partsOf(at)
  const day = year === partsOf(now).year ? date : `${date} ${year}`
  switch (form) {
    case 'date':
      return `${date} ${year}`
    case 'until':
      if (Math.abs(at - now) < MINUTE) return 'now'
      return at > now ? `in ${spanWords(at - now)}` : `${spanWords(now - at)} ago`
    case 'span':
      return spanWords(Math.abs(at - now))
    case 'dayname':
      return weekday
    case 'short':
      return day
    case 'cell':
      return `${day} ${clock}`
    case 'hour':
    case 'full':
    case 'near':
    case 'clock':
      if (zone !== undefined && at > now) return comingWords(form, at, now, zone)
      if (form === 'hour') return `${clock} UTC`
      if (form === 'full') return `${date} ${year} ${clock}${seconds} UTC`
      return form === 'near' && dayOf(at) < dayOf(now) - 1 ? day : `${day} ${clock} UTC`
  }
}

/** A moment to come on the reader's clock, and in UTC beside it: `tomorrow 08:00, 28 Nov 23:00 UTC`. */
function comingWords(form: TimeForm, at: number, now: number, zone: ReaderZone): string {
  const [ahead, present] = [zone(at), now + zone(now)]
  const [local, utc] = [partsOf(at + ahead), partsOf(at)]
  // The heading of the line has the day of UTC.
  if (form === 'hour' && ahead === 0) return `${utc.clock} UTC`
  const days = dayOf(at + ahead) - dayOf(present)
  const far = local.year === partsOf(present).year ? local.date : `${local.date} ${local.year}`
  const day = ['today', 'tomorrow'][days] ?? (days <= WEEKDAYS_NEAR ? `${local.weekday} ${far}` : far)
  if (ahead === 0) return `${day} ${utc.clock} UTC`
  const other = form === 'hour' || local.date === utc.date ? '' : `${utc.date} `
  return `${day} ${local.clock}, ${other}${utc.clock} UTC`
}

const dayOf = (ms: number): number => Math.floor(ms / DAY)

type MomentParts = Readonly<Record<'weekday' | 'date' | 'year' | 'clock' | 'seconds', string>>

function partsOf(ms: number): MomentParts {
  // "Mon, 23 Nov 2026 11:50:00 GMT" has all parts.
  const [, weekday = '', date = '', year = '', clock = '', seconds = ''] =
    PARTS.exec(new Date(ms).toUTCString()) ?? []
  return { weekday, date, year, clock, seconds }
}

/** Time between two moments as the API writes them: `2 days`. */
export function spanBetween(from: string, to: string): string {
  return spanWords(Math.abs(Date.parse(to) - Date.parse(from)))
}

/** A length of time in two units at most: `41 min`, `9 h 9 min`, `1 d 4 h`, `5 days`. */
function spanWords(ms: number): string {
  if (ms >= WHOLE_DAYS_FROM) return `${Math.floor(ms / DAY)} days`
  const [large, small, names] = ms < DAY ? [HOUR, MINUTE, ['h', 'min']] : [DAY, HOUR, ['d', 'h']]
  const rest = Math.floor((ms % large) / small)
  if (ms < large) return `${rest} ${names[1]}`
  return `${Math.floor(ms / large)} ${names[0]}${rest > 0 ? ` ${rest} ${names[1]}` : ''}`
}
