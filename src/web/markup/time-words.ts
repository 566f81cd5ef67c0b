// Moments as people write them. Pages and their script share this file, so it uses nothing of Node.

/**
 * Form of a moment:
 *
 * - `near`: `today 14:00`, `tomorrow 16:00`, `Tue 24 Nov 08:48`, else `8 Nov`, with the year if it is another
 * - `clock`: the same with the time of day, however far away
 * - `date`: `22 Nov 2026`
 * - `dayname`: `today`, `tomorrow`, `yesterday`, else `Tue`; a day of UTC
 * - `short`: `24 Nov`, with the year if it is another; a day of UTC
 * - `hour`: `15:01`, below the heading of its day
 * - `full`: `22 Nov 2026 03:49:13`
 * - `until`: `in 2 h 9 min`, or `1 h 6 min ago`
 * - `span`: `13 days` or `18 h 49 min`, the time between
 */
export type TimeForm = 'near' | 'clock' | 'dayname' | 'short' | 'hour' | 'date' | 'full' | 'until' | 'span'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
/** Days around today that are named by weekday. */
const WEEKDAYS_NEAR = 6
const NEAR_DAYS: readonly string[] = ['yesterday', 'today', 'tomorrow']
/** Time from which a span has whole days. */
const WHOLE_DAYS_FROM = 2 * DAY
const PARTS = /(\w+), 0?(\d+ \w+) (\d+) (..:..)(...)/

/** Words for a moment, both in milliseconds. A caller adds the offset of a time zone to both. */
export function timeWords(form: TimeForm, at: number, now: number): string {
  // "Mon, 23 Nov 2026 11:50:00 GMT" has all parts.
  const [, weekday = '', day = '', year = '', clock = '', seconds = ''] =
    PARTS.exec(new Date(at).toUTCString()) ?? []
  switch (form) {
    case 'full':
      return `${day} ${year} ${clock}${seconds}`
    case 'date':
      return `${day} ${year}`
    case 'until':
      if (Math.abs(at - now) < MINUTE) return 'now'
      return at > now ? `in ${spanWords(at - now)}` : `${spanWords(now - at)} ago`
    case 'span':
      return spanWords(Math.abs(at - now))
    case 'hour':
      return clock
    case 'near':
    case 'clock':
    case 'dayname':
    case 'short': {
      const days = Math.floor(at / DAY) - Math.floor(now / DAY)
      const far = Number(year) === new Date(now).getUTCFullYear() ? day : `${day} ${year}`
      const word = NEAR_DAYS[days + 1]
      if (form === 'short') return far
      if (form === 'dayname') return word ?? weekday
      if (word !== undefined) return `${word} ${clock}`
      if (days > 0 && days <= WEEKDAYS_NEAR) return `${weekday} ${far} ${clock}`
      return form === 'clock' ? `${far} ${clock}` : far
    }
  }
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
