import ical from 'ical-generator'
import { HOUR_MS, SECOND_MS } from '../../protocol/moment.ts'
import { CALENDAR_ENTRIES_MAX } from '../../protocol/parameters.ts'

export const CALENDAR_TYPE = 'text/calendar; charset=utf-8'

/** A calendar that is asked for again and again: the same moments give the same bytes. */
export type Calendar = Readonly<{
  name: string
  description: string
  /** What of Daybook it is, for the identifier of what made it. */
  product: string
  /** The name of the log, which every identifier ends with. */
  origin: string
  /** The last event counted: a stamp of the clock would make every answer another one. */
  asOfMs: number | null
  /** Of more than `CALENDAR_ENTRIES_MAX` the soonest stand in it, in this order. */
  moments: readonly CalendarMoment[]
}>

/** One moment of it; what is moved, or written otherwise, keeps its `id`. */
export type CalendarMoment = Readonly<{
  id: string
  atMs: number
  summary: string
  description?: string
  /** The page that says more. */
  url?: string
}>

const LINE_END = '\r\n'

/** Formats iCalendar feeds (RFC 5545, RFC 7986), and keeps the last: as long as it says the same, newer events only stamp it anew. */
export function openCalendar(): (calendar: Calendar) => string {
  let kept: Readonly<{ key: string; text: string }> | undefined
  return (calendar) => {
    const { asOfMs, ...content } = cut(calendar)
    const key = JSON.stringify(content)
    if (kept?.key !== key) kept = { key, text: unstamped(content) }
    return stamped(kept.text, asOfMs)
  }
}

function cut(calendar: Calendar): Calendar {
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

/** A calendar whose entries are all stamped with the moment 0: making it costs far more than stamping it. */
function unstamped({ name, description, product, origin, moments }: Omit<Calendar, 'asOfMs'>): string {
  const stamp = new Date(0)
  const prodId = { company: 'Daybook', product, language: 'EN' }
  const calendar = ical({ name, description, prodId, ttl: HOUR_MS / SECOND_MS })
  const empty = calendar.toString()
  const head = empty.slice(0, empty.lastIndexOf(END))
  const entries = moments.map(({ id, atMs, ...said }) =>
    // Without an end: one that is not later than the start is no valid end (RFC 5545, section 3.8.2.2).
    calendar.createEvent({ id: `${id}@${origin}`, stamp, start: new Date(atMs), ...said }).toString(),
  )
  return `${head}${entries.join('').split(LINE_END).map(folded).join(LINE_END)}${END}${LINE_END}`
}

const END = 'END:VCALENDAR'

/** Octets of a line without its end: the library folds so too, but makes an encoder for each character. */
const LINE_BYTES_MAX = 74

/** A line folded between characters (RFC 5545, section 3.1). */
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
  const moment = new Date(asOfMs ?? 0).toISOString().replaceAll(/[-:]|\.\d{3}/g, '')
  return text.replaceAll(STAMP, `${LINE_END}DTSTAMP:${moment}${LINE_END}`)
}
