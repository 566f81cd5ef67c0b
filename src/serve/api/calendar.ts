import type { LogReader, Snapshot } from '../../log/store/reader.ts'
import { schedule } from '../../project/answers/schedule.ts'
import { isolateDirection } from '../../protocol/foreign-text.ts'
import { msOf } from '../../protocol/moment.ts'
import type { Planned } from '../../protocol/endpoints/contest-endpoints.ts'
import { contestIdOf } from '../../protocol/seq.ts'
import type { AnswerRoute } from '../http/route.ts'
import { CALENDAR_TYPE, type CalendarMoment, openCalendar, soonestOf } from './icalendar.ts'
import { type ContestRevisions, contestRevisions, loyaltyRevision, type Revision } from './plan-history.ts'

/** Name and public URL of a service with pages. The API knows neither. */
type CalendarSite = Readonly<{ name: string; url: string }>

/**
 * Opens a formatter of the schedule as an iCalendar feed. A moved date keeps its UID. With a site, the feed has its name,
 * and each entry the address of its page.
 */
export function openScheduleCalendar(origin: string, site?: CalendarSite): (snapshot: Snapshot) => string {
  const format = openCalendar()
  return (snapshot) => {
    const { kept, note } = soonestOf(entriesOf(snapshot, site))
    const contests = kept.flatMap(({ contestId }) => (contestId === null ? [] : [contestIdOf(contestId)]))
    const revisions = contestRevisions(snapshot, [...new Set(contests)])
    return format({
      name: site === undefined ? 'Contests and payments' : `${site.name}: schedule`,
      description: `Planned contest opens and closes and the next loyalty payment. Informational only.${note}`,
      product: 'Schedule',
      origin,
      moments: kept.map(({ contestId, revision, ...entry }) => ({
        ...entry,
        // A contest that was never planned began with its first event, at that moment.
        ...(revision(revisions.get(contestId ?? 0)) ?? { sequence: 0, changedMs: msOf(entry.atMs) }),
      })),
    })
  }
}

/** An entry before its revisions are read. */
type PlannedEntry = Omit<CalendarMoment, keyof Revision> &
  Readonly<{
    contestId: number | null
    revision: (of: ContestRevisions | undefined) => Revision | undefined
  }>

function entriesOf(snapshot: Snapshot, site: CalendarSite | undefined): readonly PlannedEntry[] {
  const { opens, closes, nextLoyaltyPayment } = schedule(snapshot.books)
  const page = (path: string): Pick<CalendarMoment, 'url'> =>
    site === undefined ? {} : { url: `${site.url}${path}` }
  const planned = (one: Planned, word: 'opens' | 'closes'): PlannedEntry => ({
    id: `contest-${one.contestId}-${word}`,
    atMs: one.atMs,
    summary: `${titleOf(one)} ${word}`,
    contestId: one.contestId,
    revision: (of) => of?.[word],
    ...page(`/contests/${one.contestId}/ledger`),
  })
  const payments = nextLoyaltyPayment === null ? [] : [nextLoyaltyPayment]
  return [
    ...opens.map((one) => planned(one, 'opens')),
    ...closes.map((one) => planned(one, 'closes')),
    ...payments.map(({ month, atMs }) => ({
      id: `loyalty-${month}`,
      atMs,
      summary: `Loyalty payment for ${month}`,
      contestId: null,
      revision: () => loyaltyRevision(snapshot, month),
      ...page('/loyalty/runs'),
    })),
  ]
}

function titleOf({ contestId, title }: Planned): string {
  return title === null ? `Contest ${contestId}` : `Contest ${contestId} (${isolateDirection(title)})`
}

/** `/schedule.ics`: the calendar of the API, with the name of the service and a page for each entry. */
export function siteCalendarRoute(reader: LogReader, site: CalendarSite): AnswerRoute {
  const calendar = openScheduleCalendar(reader.identity.origin, site)
  return {
    path: '/schedule.ics',
    parameters: [],
    allowance: 'api',
    showsLog: true,
    handle: () => ({
      is: 'body',
      keep: 'revalidate',
      etag: 'of-content',
      type: CALENDAR_TYPE,
      body: reader.snapshot(calendar),
    }),
  }
}
