import ical from 'ical-generator'
import { HOUR_MS, SECOND_MS } from '../../protocol/moment.ts'
import type { Planned, Schedule } from '../../protocol/resources.ts'

const LINE_END = '\r\n'
const PRODUCT = { company: 'Daybook', product: 'Schedule', language: 'EN' }

/** The schedule as an iCalendar feed; the same schedule gives the same bytes, and a moved date keeps its UID. */
export function formatCalendar(schedule: Schedule, origin: string): string {
  // The last event counted: a stamp of the clock would make every answer another one.
  const stamp = new Date(schedule.asOf.atMs ?? 0)
  const calendar = ical({
    name: 'Contests and payments',
    description: 'Planned contest opens and closes and the next loyalty payment. Informational only.',
    prodId: PRODUCT,
    ttl: HOUR_MS / SECOND_MS,
  })
  const add = (id: string, summary: string, atMs: number): void => {
    // Without an end: one that is not later than the start is no valid end (RFC 5545, section 3.8.2.2).
    calendar.createEvent({ id: `${id}@${origin}`, stamp, start: new Date(atMs), summary })
  }
  for (const one of schedule.opens) add(`contest-${one.contestId}-opens`, `${titleOf(one)} opens`, one.atMs)
  for (const one of schedule.closes)
    add(`contest-${one.contestId}-closes`, `${titleOf(one)} closes`, one.atMs)
  const payment = schedule.nextLoyaltyPayment
  if (payment !== null) add(`loyalty-${payment.month}`, `Loyalty payment for ${payment.month}`, payment.atMs)
  const text = calendar.toString()
  return text.endsWith(LINE_END) ? text : `${text}${LINE_END}`
}

function titleOf({ contestId, title }: Planned): string {
  return title === null ? `Contest ${contestId}` : `Contest ${contestId} (${title})`
}
