import { schedule } from '../../project/answers/schedule.ts'
import { parsed } from '../../protocol/problem.ts'
import type { Desk } from '../http/projection.ts'
import { jsonProjection, project } from '../http/projection.ts'
import { CALENDAR_TYPE } from './icalendar.ts'
import { newestOfSchedule } from './changing-events.ts'
import type { EndpointReplies } from '../http/endpoint-route.ts'
import { openScheduleCalendar } from './calendar.ts'

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
            const { books } = snapshot
            const body = Buffer.from(calendar(schedule(books)))
            return parsed({ body, type: CALENDAR_TYPE, seq: books.head.seq })
          },
        }),
      ),
  }
}
