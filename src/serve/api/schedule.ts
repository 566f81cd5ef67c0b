import { schedule } from '../../project/schedule.ts'
import { parsed } from '../../protocol/problem.ts'
import type { Desk } from '../projection.ts'
import { jsonOf, project } from '../projection.ts'
import type { Route } from '../route.ts'
import { endpointRoute } from './endpoint-route.ts'
import { formatCalendar } from './calendar.ts'

/** `/schedule`, and the same as a calendar feed. */
export function scheduleRoutes(desk: Desk): readonly Route[] {
  return [
    endpointRoute('schedule', (ask) =>
      project(desk, ask, ({ books }) =>
        parsed({ ground: 'log', compute: () => parsed(jsonOf(schedule(books))) }),
      ),
    ),
    endpointRoute('scheduleCalendar', (ask) =>
      project(desk, ask, ({ books }) =>
        parsed({
          ground: 'log',
          compute() {
            const body = Buffer.from(formatCalendar(schedule(books), desk.reader.identity.origin))
            return parsed({ body, type: 'text/calendar; charset=utf-8', seq: books.head.seq })
          },
        }),
      ),
    ),
  ]
}
