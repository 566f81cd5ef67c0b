import { isolateDirection } from '../../protocol/foreign-text.ts'
import type { Planned, Schedule } from '../../protocol/resources.ts'
import type { Calendar, CalendarMoment } from './icalendar.ts'
import { openCalendar } from './icalendar.ts'

/** Name and public URL of a service with pages. The API knows neither. */
type CalendarSite = Readonly<{ name: string; url: string }>

/**
 * Opens a formatter of the schedule as an iCalendar feed. A moved date keeps its UID. With a site, the feed has its name,
 * and each entry the address of its page.
 */
export function openScheduleCalendar(origin: string, site?: CalendarSite): (schedule: Schedule) => string {
  const format = openCalendar()
  return (schedule) => format(calendarOf(schedule, origin, site))
}

function calendarOf(
  { asOf, opens, closes, nextLoyaltyPayment }: Schedule,
  origin: string,
  site: CalendarSite | undefined,
): Calendar {
  const page = (path: string): Pick<CalendarMoment, 'url'> =>
    site === undefined ? {} : { url: `${site.url}${path}` }
  const planned = (one: Planned, word: 'opens' | 'closes'): CalendarMoment => ({
    id: `contest-${one.contestId}-${word}`,
    atMs: one.atMs,
    summary: `${titleOf(one)} ${word}`,
    ...page(`/contests/${one.contestId}/ledger`),
  })
  const payments = nextLoyaltyPayment === null ? [] : [nextLoyaltyPayment]
  return {
    name: site === undefined ? 'Contests and payments' : `${site.name}: schedule`,
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
        ...page('/loyalty/runs'),
      })),
    ],
  }
}

function titleOf({ contestId, title }: Planned): string {
  return title === null ? `Contest ${contestId}` : `Contest ${contestId} (${isolateDirection(title)})`
}
