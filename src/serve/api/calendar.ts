import { isolateDirection } from '../../protocol/foreign-text.ts'
import type { Planned, Schedule } from '../../protocol/resources.ts'
import type { Calendar, CalendarMoment } from './icalendar.ts'
import { openCalendar } from './icalendar.ts'

/** Opens a formatter of the schedule as an iCalendar feed. A moved date keeps its UID. */
export function openScheduleCalendar(origin: string): (schedule: Schedule) => string {
  const format = openCalendar()
  return (schedule) => format(calendarOf(schedule, origin))
}

function calendarOf({ asOf, opens, closes, nextLoyaltyPayment }: Schedule, origin: string): Calendar {
  const planned = (one: Planned, word: 'opens' | 'closes'): CalendarMoment => ({
    id: `contest-${one.contestId}-${word}`,
    atMs: one.atMs,
    summary: `${titleOf(one)} ${word}`,
  })
  const payments = nextLoyaltyPayment === null ? [] : [nextLoyaltyPayment]
  return {
    name: 'Contests and payments',
    description: 'Planned contest opens and closes and the next loyalty payment. Informational only.',
    product: 'Schedule',
    origin,
    asOfMs: asOf.atMs,
    moments: [
      ...opens.map((one) => planned(one, 'opens')),
      ...closes.map((one) => planned(one, 'closes')),
      ...payments.map(({ month, atMs }) => ({
        id: `loyalty-${month}`,
        atMs,
        summary: `Loyalty payment for ${month}`,
      })),
    ],
  }
}

function titleOf({ contestId, title }: Planned): string {
  return title === null ? `Contest ${contestId}` : `Contest ${contestId} (${isolateDirection(title)})`
}
