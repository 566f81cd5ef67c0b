import ical from 'ical-generator'
import { formatCompact, HOUR_MS, msOf, SECOND_MS } from '../../protocol/moment.ts'
import { CALENDAR_ENTRIES_MAX } from '../../protocol/parameters.ts'

export const CALENDAR_TYPE = 'text/calendar; charset=utf-8'

/** A calendar feed. */
export type Calendar = Readonly<{
  name: string
  description: string
  /** Product name in `PRODID`. */
  product: string
  /** Origin of the log; the end of every UID. */
  origin: string
  /** Moment of the last event, used as `DTSTAMP`. The clock would change the bytes of every answer. */
  asOfMs: number | null
  /** Entries in the order of the feed. Above `CALENDAR_ENTRIES_MAX` only the soonest are written. */
  moments: readonly CalendarMoment[]
}>

/** An entry of a calendar. A moved or reworded entry keeps its `id`. */
export type CalendarMoment = Readonly<{
  id: string
  atMs: number
  summary: string
  description?: string
  /** Page about the entry. */
  url?: string
}>

const LINE_END = '\r\n'

/**
 * Opens a formatter of iCalendar feeds (RFC 5545, RFC 7986). It caches the last feed and replaces only the stamps while
 * the content is the same.
 */
export function openCalendar(): (calendar: Calendar) => string {
  let cached: Readonly<{ key: string; text: string }> | undefined
  return (calendar) => {
    const { asOfMs, ...content } = shortened(calendar)
    const key = JSON.stringify(content)
    if (cached?.key !== key) cached = { key, text: unstamped(content) }
    return stamped(cached.text, asOfMs)
  }
}

function shortened(calendar: Calendar): Calendar {
  const { moments, description } = calendar
  if (moments.length <= CALENDAR_ENTRIES_MAX) return calendar
  const inOrder = moments.toSorted((a, b) => a.atMs - b.atMs)
  const soonest = new Set(inOrder.slice(0, CALENDAR_ENTRIES_MAX))
  return {
    ...calendar,
    description: `${description} Only the soonest ${CALENDAR_ENTRIES_MAX} are named.`,
    moments: moments.filter((one) => soonest.has(one)),
  }
}

/** Formats a calendar with the stamp 0 in all entries. Formatting costs far more than replacing the stamps. */
function unstamped({ name, description, product, origin, moments }: Omit<Calendar, 'asOfMs'>): string {
  const stamp = new Date(0)
  const prodId = { company: 'Daybook', product, language: 'EN' }
  const calendar = ical({ name, description, prodId, ttl: HOUR_MS / SECOND_MS })
  const empty = calendar.toString()
  const head = empty.slice(0, empty.lastIndexOf(END))
  const entries = moments.map(({ id, atMs, ...texts }) =>
    // Without `DTEND`, which must be later than `DTSTART` (RFC 5545, section 3.8.2.2).
    calendar.createEvent({ id: `${id}@${origin}`, stamp, start: new Date(atMs), ...texts }).toString(),
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

const STAMP = `${LINE_END}DTSTAMP:19700101T000000Z${LINE_END}`

function stamped(text: string, asOfMs: number | null): string {
  return text.replaceAll(STAMP, `${LINE_END}DTSTAMP:${formatCompact(msOf(asOfMs ?? 0))}${LINE_END}`)
}
