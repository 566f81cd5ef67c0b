import { schedule } from '../../project/answers/schedule.ts'
import { parsed } from '../../protocol/problem.ts'
import { type Desk, jsonProjection, project } from '../http/projection.ts'
import { CALENDAR_TYPE } from './icalendar.ts'
import { newestOfSchedule } from './changing-events.ts'
import type { EndpointReplies } from '../http/endpoint-route.ts'
import { type CalendarSite, openScheduleCalendar } from './calendar.ts'
import type { LogReader } from '../../log/store/reader.ts'
import type { AnswerRoute } from '../http/route.ts'

/** Replies of `/schedule` and of its calendar feed. */
export function scheduleReplies(desk: Desk): EndpointReplies<'schedule' | 'scheduleCalendar'> {
  const calendar = openScheduleCalendar(desk.reader.identity.origin)
  return {
    schedule: (ask) =>
      project(desk, ask, (snapshot) => {
        const compute = () => parsed(jsonProjection(schedule(snapshot.books)))
        return parsed({ ground: 'log', changedBy: newestOfSchedule(snapshot), compute })
      }),
    scheduleCalendar: (ask) =>
      project(desk, ask, (snapshot) =>
        parsed({
          ground: 'log',
          changedBy: newestOfSchedule(snapshot),
          compute() {
            return parsed({
              body: Buffer.from(calendar(snapshot)),
              type: CALENDAR_TYPE,
              seq: snapshot.head.seq,
            })
          },
        }),
      ),
  }
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
