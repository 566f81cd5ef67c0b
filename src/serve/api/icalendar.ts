import ical from 'ical-generator'
import { HOUR_MS, type Ms, SECOND_MS } from '../../protocol/moment.ts'
import { CALENDAR_ENTRIES_MAX } from '../../protocol/parameters.ts'

export const CALENDAR_TYPE = 'text/calendar; charset=utf-8'

/** A calendar feed. Its bytes depend on nothing else, so they change only when an entry does. */
type Calendar = Readonly<{
  name: string
  description: string
  /** Product name in `PRODID`. */
  product: string
  /** Origin of the log; the end of every UID. */
  origin: string
  /** Entries in the order of the feed. */
  moments: readonly CalendarMoment[]
}>

/** An entry of a calendar. A moved or reworded entry keeps its `id`. */
export type CalendarMoment = Readonly<{
  id: string
  atMs: number
  /** Number of times that the entry has moved (`SEQUENCE`). */
  sequence: number
  /** Moment of the event that last changed the entry (`DTSTAMP`). */
  changedMs: Ms
  summary: string
  description?: string
  /** Page about the entry. */
  url?: string
}>

const LINE_END = '\r\n'

/** The soonest entries, at most `CALENDAR_ENTRIES_MAX`, in their order, and a sentence that says that there are more. */
export function soonestOf<Entry extends Readonly<{ atMs: number }>>(
  entries: readonly Entry[],
): Readonly<{ kept: readonly Entry[]; note: string }> {
  if (entries.length <= CALENDAR_ENTRIES_MAX) return { kept: entries, note: '' }
  const inOrder = entries.toSorted((a, b) => a.atMs - b.atMs)
  const soonest = new Set(inOrder.slice(0, CALENDAR_ENTRIES_MAX))
  const note = ` Only the soonest ${CALENDAR_ENTRIES_MAX} are named.`
  return { kept: entries.filter((one) => soonest.has(one)), note }
}

/** Opens a formatter of iCalendar feeds (RFC 5545, RFC 7986). It caches the last feed, because formatting is slow. */
export function openCalendar(): (calendar: Calendar) => string {
  let cached: Readonly<{ key: string; text: string }> | undefined
  return (calendar) => {
    const key = JSON.stringify(calendar)
    if (cached?.key !== key) cached = { key, text: format(calendar) }
    return cached.text
  }
}

function format({ name, description, product, origin, moments }: Calendar): string {
  const prodId = { company: 'Daybook', product, language: 'EN' }
  const calendar = ical({ name, description, prodId, ttl: HOUR_MS / SECOND_MS })
  const empty = calendar.toString()
  const head = empty.slice(0, empty.lastIndexOf(END))
  const entries = moments.map(({ id, atMs, changedMs, ...said }) =>
    // Without `DTEND`, which must be later than `DTSTART` (RFC 5545, section 3.8.2.2).
    calendar
      .createEvent({ id: `${id}@${origin}`, stamp: new Date(changedMs), start: new Date(atMs), ...said })
      .toString(),
  )
  return `${head}${entries.join('').split(LINE_END).map(folded).join(LINE_END)}${END}${LINE_END}`
}

const END = 'END:VCALENDAR'

/** Octets of a line without its end. The library folds too, but slowly: it makes an encoder for each character. */
const LINE_BYTES_MAX = 74

/** Folds a line between characters (RFC 5545, section 3.1). */
function folded(line: string): string {
  if (Buffer.byteLength(line) <= LINE_BYTES_MAX) return line
  let text = ''
  let bytes = 0
  for (const char of line) {
    const size = Buffer.byteLength(char)
    bytes += size
    if (bytes > LINE_BYTES_MAX) {
      text += `${LINE_END} `
      bytes = size
    }
    text += char
  }
  return text
}
