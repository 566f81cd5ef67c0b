import { isSummarySettled, resolveMoment, summary } from '../../project/answers/summary.ts'
import { mapped, parsed } from '../../protocol/problem.ts'
import type { Desk } from '../http/projection.ts'
import { jsonProjection, project } from '../http/projection.ts'
import type { RouteReply } from '../http/endpoint-route.ts'

/** `/summary`: kept for ever once the moment asked for is settled. */
export function summaryReply(desk: Desk): RouteReply {
  return (ask) => {
    const at = ask.query.time('at') ?? null
    return project(desk, ask, ({ books }) => {
      // The present to the millisecond: a moment that has just passed is not in the future.
      const come = resolveMoment(at, ask.now, books.head)
      if (!come.ok) return come
      const ground = isSummarySettled(books.head, at) ? 'settled' : 'log'
      return parsed({ ground, compute: () => mapped(summary(books, at, ask.now), jsonProjection) })
    })
  }
}
