import { isSummarySettled, resolveMoment, summary } from '../../project/answers/summary.ts'
import { mapped, parsed } from '../../protocol/problem.ts'
import { type Desk, jsonProjection, project } from '../http/projection.ts'
import type { RouteReply } from '../http/endpoint-route.ts'

/** Reply of `/summary`, immutable once the requested moment is settled. */
export function summaryReply(desk: Desk): RouteReply {
  return (ask) => {
    const at = ask.query.time('at') ?? null
    return project(desk, ask, ({ books }) => {
      // Compared with the present to the millisecond, so that a moment that has just passed is accepted.
      const moment = resolveMoment(at, ask.latest, books.head)
      if (!moment.ok) return moment
      const ground = isSummarySettled(books.head, at) ? 'settled' : 'log'
      return parsed({ ground, compute: () => mapped(summary(books, at, ask.latest), jsonProjection) })
    })
  }
}
