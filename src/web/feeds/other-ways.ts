import type { LogIdentity } from '../../log/store/reader.ts'
import { ENDPOINT_PATHS } from '../../protocol/paths.ts'
import type { Problem } from '../../protocol/problem.ts'
import type { ContestLedger } from '../../protocol/resources.ts'
import { parseContestId } from '../../protocol/seq.ts'
import { isRepeatable } from '../../serve/http/address.ts'
import type { AnswerRoute, RouteRequest, Reply } from '../../serve/http/route.ts'
import { problemReply } from '../../serve/http/route.ts'
import type { Api } from '../frame/answers.ts'
import { badgeOf } from './badge.ts'
import type { Site } from '../markup/site.ts'

const NOTHING_HERE: Problem = { code: 'not-found', detail: 'There is nothing at this address.' }
const NO_CONTEST: Problem = { code: 'contest-not-found', detail: 'No contest has this number.' }

const SVG_TYPE = 'image/svg+xml'
const SVG_POLICY = "default-src 'none'; sandbox"

/** How a refusal is told at an address. */
type Refuse = (problem: Problem, path: string, rawQuery: string) => Promise<Reply>

/** Whose contests the badges are of. */
type Badges = Readonly<{ site: Site; identity: LogIdentity }>

/** Addresses that lead to a page, and the calendar under the page's own path. */
export function otherWays(api: Api, refuse: Refuse, of: Badges): readonly AnswerRoute[] {
  return [contestToLedger(api, refuse, of), calendar(api), ...LEADING.map((one) => leadOn(one, refuse))]
}

/** What the API has beside answers that have a page: each leads to the page that speaks of it, or to itself. */
const LEADING: readonly (readonly [path: string, to: (segments: RouteRequest['segments']) => string])[] = [
  ['/events/{seq}/details', ({ seq = '' }) => `/events/${seq}`],
  ['/events/{seq}/corrections', ({ seq = '' }) => `/events/${seq}`],
  ['/event-types', () => '/api#eventTypes'],
  ['/event-types/{type}', () => '/api#eventType'],
  ['/archive/{file}', () => '/archive'],
  ['/log/proof/{seq}', ({ seq = '' }) => `/verify?seq=${seq}`],
  ['/log/{rest...}', () => '/verify'],
  ['/openapi.json', () => ENDPOINT_PATHS.openapi],
  ['/asyncapi.json', () => ENDPOINT_PATHS.asyncapi],
]

function leadOn([path, to]: (typeof LEADING)[number], refuse: Refuse): AnswerRoute {
  return {
    path,
    parameters: [],
    allowance: 'pages',
    handle(ask) {
      // What may be a wallet address is led nowhere: the way would repeat it.
      if (!isRepeatable(ask.path)) return refuse(NOTHING_HERE, ask.path, '')
      return { is: 'elsewhere', status: 308, location: to(ask.segments) }
    },
  }
}

/** A contest has one page: that of its ledger, which says all that the contest alone would. Its picture is a badge. */
function contestToLedger(api: Api, refuse: Refuse, of: Badges): AnswerRoute {
  return {
    path: '/contests/{id}',
    parameters: [],
    allowance: 'pages',
    showsLog: true,
    handle(ask) {
      const [, id = '', form] = /^([^.]*)(\.json|\.svg)?$/.exec(ask.segments['id'] ?? '') ?? []
      // What leads on for good is what may be a contest's number, now or later.
      if (parseContestId(id) === undefined) return refuse(NO_CONTEST, ask.path, '')
      if (form === '.svg') return badge(api, ask, id, of)
      const location = form === undefined ? `/contests/${id}/ledger` : `/api/v1/contests/${id}`
      return { is: 'elsewhere', status: 308, location }
    },
  }
}

async function badge(api: Api, ask: RouteRequest, id: string, { site, identity }: Badges): Promise<Reply> {
  const asked = await api.ask('contestLedger', ask, { segments: { id }, query: 'limit=1' })
  if (!asked.ok) return problemReply(asked.problem)
  const ledger: ContestLedger = JSON.parse(asked.value.json)
  const headers = { 'Content-Security-Policy': SVG_POLICY }
  return {
    is: 'body',
    keep: asked.value.keep,
    etag: 'of-content',
    type: SVG_TYPE,
    body: badgeOf(ledger, { token: site.token, simulated: identity.simulated }).markup,
    headers,
  }
}

/** The feed of the API, at the address that people subscribe to. */
function calendar(api: Api): AnswerRoute {
  const route = api.route('scheduleCalendar')
  return {
    path: '/schedule.ics',
    parameters: route.parameters,
    allowance: 'api',
    showsLog: true,
    handle: (ask) => route.handle({ ...ask, path: ENDPOINT_PATHS.scheduleCalendar }),
  }
}
