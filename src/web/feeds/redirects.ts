import type { EndpointWithoutPage } from '../../protocol/endpoints/endpoints.ts'
import { keysOf } from '../../protocol/brand.ts'
import type { Ms } from '../../protocol/moment.ts'
import { ENDPOINT_PATHS, type EndpointId } from '../../protocol/paths.ts'
import { NO_CONTEST, type Problem } from '../../protocol/problem.ts'
import { parseContestId } from '../../protocol/seq.ts'
import { isRepeatable } from '../../serve/query/address.ts'
import type { AnswerRoute, Reply, RouteRequest } from '../../serve/http/route.ts'
import { NOTHING_HERE } from '../frame/error-page.ts'
import { endpointPagePath } from '../frame/page.ts'

/** Answers a request with an error page. */
type Refuse = (problem: Problem, path: string, rawQuery: string, now: Ms) => Promise<Reply>

/** Routes that redirect to a page. */
export function redirectRoutes(refuse: Refuse): readonly AnswerRoute[] {
  const redirects = keysOf(TARGETS).flatMap((id) => {
    const target = TARGETS[id]
    return target === null ? [] : [redirectRoute(endpointPagePath(id), target, refuse)]
  })
  return [
    contestRoute(refuse),
    contestDataRoute(refuse),
    ...redirects,
    redirectRoute('/log/{rest...}', () => '/verify', refuse),
  ]
}

/** Whether an endpoint has a page of its own. */
export function hasPage(endpoint: EndpointId): boolean {
  return !Object.hasOwn(TARGETS, endpoint)
}

type Target = (segments: RouteRequest['segments']) => string

/** Redirect target of each API path without a page, without `/api/v1`; null where another route has the path. */
const TARGETS: Readonly<Record<EndpointWithoutPage, Target | null>> = {
  contest: null,
  scheduleCalendar: null,
  eventDetails: ({ seq = '' }) => `/events/${seq}`,
  eventCorrections: ({ seq = '' }) => `/events/${seq}`,
  stream: null,
  archiveFile: () => '/archive',
  // Redirected with everything else under `/log`.
  logCheckpoint: null,
  logWitnessedCheckpoint: null,
  logWitnesses: null,
  logTile: null,
  logEntries: null,
  logKeys: null,
  logProof: ({ seq = '' }) => `/verify?seq=${seq}`,
  eventTypes: () => '/api#eventTypes',
  eventType: () => '/api#eventType',
  openapi: () => ENDPOINT_PATHS.openapi,
  asyncapi: () => ENDPOINT_PATHS.asyncapi,
}

function redirectRoute(path: string, target: Target, refuse: Refuse): AnswerRoute {
  return {
    path,
    parameters: [],
    allowance: 'pages',
    handle(ask) {
      // A redirect would repeat a wallet address in the path.
      if (!isRepeatable(ask.path)) return refuse(NOTHING_HERE, ask.path, '', ask.now)
      return { is: 'redirect', status: 308, location: target(ask.segments) }
    },
  }
}

/** `/contests/{id}`: redirects to the contest's ledger page, with `.png` to its picture. */
function contestRoute(refuse: Refuse): AnswerRoute {
  return {
    path: '/contests/{id}',
    parameters: [],
    allowance: 'pages',
    showsLog: true,
    handle(ask) {
      const [, id = '', form = ''] = /^([^.]*)(\.png)?$/.exec(ask.segments['id'] ?? '') ?? []
      // The redirect is permanent, so it covers contests that do not exist yet.
      if (parseContestId(id) === undefined) return refuse(NO_CONTEST, ask.path, '', ask.now)
      return { is: 'redirect', status: 308, location: `/contests/${id}/ledger${form}` }
    },
  }
}

/** `/contests/{id}.json`: redirects to the contest in the API, and counts as it does. */
function contestDataRoute(refuse: Refuse): AnswerRoute {
  return {
    path: '/contests/{id}.json',
    parameters: [],
    allowance: 'api',
    showsLog: true,
    handle({ segments: { id = '' }, path, now }) {
      if (parseContestId(id) === undefined) return refuse(NO_CONTEST, path, '', now)
      return { is: 'redirect', status: 308, location: `/api/v1/contests/${id}` }
    },
  }
}
