import type { Details } from '../../protocol/details.ts'
import type { DaybookEvent } from '../../protocol/event.ts'
import { type ExpectedNext, readDetailsLine, readEventLine } from '../../verify/reading/entry-lines.ts'
import { WrongError } from '../../verify/reading/finding.ts'

/** Event from the origin, with its details and the exact lines of both. */
export type MirrorEntry = Readonly<{
  event: DaybookEvent
  line: string
  details: Details | null
  detailsLine: string | null
}>

/** Most bytes of an event's line. The longest possible one has about 400. */
export const EVENT_LINE_BYTES_MAX = 1_024
/** Most bytes of a line of details with its frame. */
export const DETAILS_LINE_BYTES_MAX_FRAMED: number = 17 * 1024

/** Parses the next entry. Throws a `WrongError` unless its lines are exactly those that Daybook writes for this seq. */
export function readEntry(line: string, detailsLine: string | null, next: ExpectedNext): MirrorEntry {
  const event = readEventLine(line, next)
  if (line.length > EVENT_LINE_BYTES_MAX) throw new WrongError(`seq ${event.seq}`, 'the line is too long')
  if (detailsLine === null) return { event, line, details: null, detailsLine: null }
  const place = `the details of seq ${event.seq}`
  const found = readDetailsLine(place, detailsLine)
  if (found.seq !== event.seq) throw new WrongError(place, 'belong to another event')
  if (detailsLine.length > DETAILS_LINE_BYTES_MAX_FRAMED) throw new WrongError(place, 'are too long')
  return { event, line, details: found.details, detailsLine }
}
