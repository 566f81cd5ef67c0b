import { loyaltyRuns } from '../../project/loyalty-runs.ts'
import { payouts } from '../../project/payouts.ts'
import { parsed } from '../../protocol/problem.ts'
import type { Desk } from '../projection.ts'
import { jsonOf, project } from '../projection.ts'
import type { AnswerRoute } from '../route.ts'
import { endpointRoute } from './endpoint-route.ts'

/** `/payouts`, what is won and not yet paid, and `/loyalty/runs`. */
export function paymentRoutes(desk: Desk): readonly AnswerRoute[] {
  return [
    endpointRoute('payouts', (ask) =>
      project(desk, ask, ({ books }, present) => {
        const { query } = ask
        const page = { after: query.integer('after'), limit: query.integer('limit') }
        const asked = { contestId: query.integer('contestId'), ...page }
        return parsed({ ground: 'minute', compute: () => parsed(jsonOf(payouts(books, asked, present))) })
      }),
    ),
    endpointRoute('loyaltyRuns', (ask) =>
      project(desk, ask, ({ books }) =>
        parsed({ ground: 'log', compute: () => parsed(jsonOf(loyaltyRuns(books))) }),
      ),
    ),
  ]
}
