import { loyaltyRuns } from '../../project/answers/loyalty-runs.ts'
import { payouts } from '../../project/answers/payouts.ts'
import { parsed } from '../../protocol/problem.ts'
import { type Desk, project } from '../http/projection.ts'
import { listProjection } from './list-projection.ts'
import { changesLoyalty, changesPrizes, earlier, newestOf, newestOfContest } from './changing-events.ts'
import type { EndpointReplies } from '../http/endpoint-route.ts'

/** Replies of `/payouts`, the unpaid prizes, and of `/loyalty/runs`. */
export function paymentReplies(desk: Desk): EndpointReplies<'payouts' | 'loyaltyRuns'> {
  return {
    payouts: (ask) =>
      project(desk, ask, ({ books, kinds }, present) => {
        const { query } = ask
        const page = { after: query.integer('after'), limit: query.integer('limit') }
        const asked = { contestId: query.integer('contestId'), ...page }
        const ofPrizes = newestOf(kinds(), changesPrizes)
        const changedBy =
          asked.contestId === undefined
            ? ofPrizes
            : earlier(ofPrizes, newestOfContest(books, asked.contestId))
        const compute = () => parsed(listProjection(ask, 'payouts', payouts(books, asked, present)))
        return parsed({ ground: 'minute', changedBy, compute })
      }),
    loyaltyRuns: (ask) =>
      project(desk, ask, ({ books, kinds }) => {
        const changedBy = newestOf(kinds(), changesLoyalty)
        const compute = () => parsed(listProjection(ask, 'loyaltyRuns', loyaltyRuns(books)))
        return parsed({ ground: 'log', changedBy, compute })
      }),
  }
}
