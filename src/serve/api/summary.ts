import { isSummarySettled, summary } from '../../project/summary.ts'
import { mapped, parsed } from '../../protocol/problem.ts'
import type { Desk } from '../projection.ts'
import { jsonOf, project } from '../projection.ts'
import type { Route } from '../route.ts'
import { endpointRoute } from './endpoint-route.ts'

/** `/summary`: kept for ever once the moment asked for is settled. */
export function summaryRoute(desk: Desk): Route {
  return endpointRoute('summary', (ask) => {
    const at = ask.query.time('at') ?? null
    return project(desk, ask, ({ books }) =>
      parsed({
        ground: isSummarySettled(books.head, at) ? 'settled' : 'log',
        // The present to the millisecond: a moment that has just passed is not in the future.
        compute: () => mapped(summary(books, at, ask.now), jsonOf),
      }),
    )
  })
}
