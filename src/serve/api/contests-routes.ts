import { contestLedger } from '../../project/answers/contest-ledger.ts'
import { answerContests, contest, noContest, resolveContests } from '../../project/answers/contests.ts'
import { mapped, parsed } from '../../protocol/problem.ts'
import { parseContestId } from '../../protocol/seq.ts'
import { type Desk, jsonProjection, project } from '../http/projection.ts'
import { listProjection } from './list-projection.ts'
import { changesContests, newestOf } from './changing-events.ts'
import type { EndpointReplies } from '../http/endpoint-route.ts'

/** Replies of `/contests`, one contest, and its ledger. */
export function contestReplies(desk: Desk): EndpointReplies<'contests' | 'contest' | 'contestLedger'> {
  return {
    contests: (ask) =>
      project(desk, ask, ({ books, kinds }) => {
        const { query } = ask
        const asked = resolveContests(books, {
          status: query.list('status'),
          q: query.word('q'),
          sort: query.word('sort'),
          after: query.integer('after'),
          limit: query.integer('limit'),
        })
        if (!asked.ok) return asked
        const compute = () =>
          mapped(answerContests(books, asked.value), (answer) => listProjection(ask, 'contests', answer))
        return parsed({ ground: 'log', changedBy: newestOf(kinds(), changesContests), compute })
      }),
    contest: (ask) =>
      project(desk, ask, ({ books }) => {
        const id = parseContestId(ask.segments['id'] ?? '')
        const found = id === undefined ? undefined : books.contest(id)
        if (id === undefined || found === undefined) return noContest()
        return parsed({
          ground: 'log',
          changedBy: found.lastSeq,
          compute: () => mapped(contest(books, id), jsonProjection),
        })
      }),
    contestLedger: (ask) =>
      project(desk, ask, ({ books }) => {
        const id = parseContestId(ask.segments['id'] ?? '')
        const found = id === undefined ? undefined : books.contest(id)
        if (id === undefined || found === undefined) return noContest()
        const { lastSeq: changedBy } = found
        const page = { after: ask.query.integer('after'), limit: ask.query.integer('limit') }
        return parsed({
          ground: 'log',
          changedBy,
          compute: () =>
            mapped(contestLedger(books, id, page), (answer) => listProjection(ask, 'contestLedger', answer)),
        })
      }),
  }
}
