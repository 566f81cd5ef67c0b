import { floorTo, formatAt, MINUTE_MS, type Ms } from '../../protocol/moment.ts'
import type { Bucket } from '../../protocol/enumerations.ts'
import { type Html, html } from './html.ts'
import { type DayForm, dayWords, type TimeForm, timeWords } from './time-words.ts'

const AT = /^(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2}:\d{2})\.\d{3}Z$/

/** Current time for relative words. A past view never changes, so it has full dates. */
export type Present = Readonly<{ now: Ms; past: boolean }>

/** Current minute for a page's relative words. */
function wordsPresent({ now }: Pick<Present, 'now'>): Ms {
  return floorTo(now, MINUTE_MS)
}

/** A moment in full: `22 Nov 2026 03:49:13 UTC`. */
export function momentOf(at: string): Html {
  return timeElement('full', at, 0)
}

/** Moment in short form: `24 Nov 08:48 UTC`, or `8 Nov` when it is long ago. */
export function nearMoment(at: string, present: Present): Html {
  return present.past ? timeElement('full', at, 0) : timeElement('near', at, wordsPresent(present))
}

/** Short moment with the time of day, however long ago: `8 Nov 16:00 UTC`. */
export function clockMoment(at: string, present: Present): Html {
  return present.past ? timeElement('full', at, 0) : timeElement('clock', at, wordsPresent(present))
}

/** Moment in a table whose column head names UTC: `8 Nov 16:00`. */
export function cellMoment(at: string, present: Pick<Present, 'now'>): Html {
  return dayElement('cell', at, wordsPresent(present))
}

/** UTC day of a moment in two parts, as the heading of its lines: `Tue` and `24 Nov`. */
export function nearDay(at: string, present: Pick<Present, 'now'>): Readonly<{ weekday: Html; date: Html }> {
  const now = wordsPresent(present)
  return { weekday: dayElement('dayname', at, now), date: dayElement('short', at, now) }
}

/** The time of day of a moment below the heading of its day: `15:01 UTC`. */
export function hourOf(at: string): Html {
  return timeElement('hour', at, 0)
}

/** Time until or since a moment: `in 2 h 9 min`. Null in a past view, which has no present. */
export function untilMoment(at: string, present: Present): Html | null {
  return present.past ? null : timeElement('until', at, wordsPresent(present))
}

/** Length of time between a moment and now: `13 days`. Null in a past view. */
export function spanFrom(at: string, present: Present): Html | null {
  return present.past ? null : timeElement('span', at, wordsPresent(present))
}

/** Moment to the millisecond: `Sunday 22 November 2026, 03:49:13.233`. Always in UTC, which the page adds after it. */
export function exactMoment(at: string): Html {
  const ms = Date.parse(at)
  const date = { timeZone: 'UTC', weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' } as const
  const parts = new Intl.DateTimeFormat('en-GB', date).formatToParts(ms)
  const part = (type: string): string => parts.find((one) => one.type === type)?.value ?? ''
  const day = `${part('weekday')} ${part('day')} ${part('month')} ${part('year')}`
  return { markup: `<time datetime="${at}" data-form="exact">${day}, ${at.slice(11, -1)}</time>` }
}

/** Time element of the UTC day that begins at this moment. */
export function dayOf(at: string): Html {
  return html`<time datetime="${at}" data-form="day">${dayWords('date', Date.parse(at))}</time>`
}

/** End of a range, always in UTC: its day if it is midnight, otherwise `22 Nov 2026 03:49`. */
export function rangeEnd(at: string): Html {
  return at.endsWith('T00:00:00.000Z') ? dayOf(at) : minuteOf(at)
}

/** A moment to the minute, always in UTC: `22 Nov 2026 03:49`. */
export function minuteOf(at: string): Html {
  const day = dayWords('date', Date.parse(at))
  return html`<time datetime="${at}" data-form="minute">${day} ${at.slice(11, 16)}</time>`
}

/** A month by its name: `November 2026`. */
export function monthHtml(month: string): Html {
  return html`<time datetime="${month}" data-form="monthname">${monthWords(month)}</time>`
}

/** A month of the API in words, as plain text: `November 2026`. */
export function monthWords(month: string): string {
  return MONTHS.format(Date.parse(`${month}-01`))
}

const MONTHS = new Intl.DateTimeFormat('en', { month: 'long', year: 'numeric', timeZone: 'UTC' })

/** `22 Nov 2026 03:49:13 UTC`, as plain text. */
export function momentText(at: string): string {
  if (!AT.test(at)) throw new Error('a moment is written with three decimals in UTC')
  return timeWords('full', Date.parse(at), 0)
}

/** `1 October 2026, 00:00 UTC`, as plain text, with the seconds if there are any. */
export function longMomentText(ms: Ms): string {
  const at = formatAt(ms)
  const clock = at.slice(11, -1).replace(/(?::00)?\.000$/, '')
  return `${Number(at.slice(8, 10))} ${monthWords(at.slice(0, 7))}, ${clock} UTC`
}

/**
 * Time element of the bucket that begins at a moment, in UTC: `Sun 22 Nov`, `22 Nov 14:00` or `Nov 2026`. A day in
 * another year than `near` includes the year.
 */
export function bucketStart(bucket: Bucket, at: string, near: string): Html {
  const [day = '', month = '', year = ''] = dayWords('date', Date.parse(at)).split(' ')
  if (bucket === 'month') return html`<time datetime="${at}" data-form="month">${month} ${year}</time>`
  if (bucket === 'hour' || bucket === 'minute')
    return html`<time datetime="${at}" data-form="slot">${day} ${month} ${at.slice(11, 16)}</time>`
  if (at.slice(0, 4) !== near.slice(0, 4)) return dayOf(at)
  const weekday = new Date(at).toUTCString().slice(0, 3)
  return html`<time datetime="${at}" data-form="weekday">${weekday} ${day} ${month}</time>`
}

/** Phrase for a bucket by its first moment, such as "in the week that began on …". */
export function bucketOf(bucket: Bucket, at: string): Html {
  if (bucket === 'day') return html`on ${dayOf(at)}`
  if (bucket === 'month') return html`in the month that began on ${dayOf(at)}`
  if (bucket === 'week') return html`in the week that began on ${dayOf(at)}`
  return html`in the ${bucket} from ${momentOf(at)}`
}

/** Current time of a page, for its script and for checks; null in a past view. */
export function presentText({ now, past }: Present): string | null {
  return past ? null : formatAt(wordsPresent({ now }))
}

function timeElement(form: TimeForm, at: string, now: number): Html {
  return elementOf(form, at, timeWords(form, Date.parse(at), now))
}

function dayElement(form: DayForm, at: string, now: number): Html {
  return elementOf(form, at, dayWords(form, Date.parse(at), now))
}

function elementOf(form: TimeForm | DayForm, at: string, words: string): Html {
  if (!AT.test(at)) throw new Error('a moment is written with three decimals in UTC')
  // Built without `html`, since a moment needs no escape.
  const named = form === 'full' ? '' : ` data-form="${form}"`
  return { markup: `<time datetime="${at}"${named}>${words}</time>` }
}
