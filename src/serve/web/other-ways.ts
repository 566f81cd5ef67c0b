import { ENDPOINT_PATHS } from '../../protocol/paths.ts'
import type { ContestLedger } from '../../protocol/resources.ts'
import type { Ask, Reply, Route } from '../route.ts'
import { problemReply } from '../route.ts'
import type { Api } from './answers.ts'
import { badgeOf } from './badge.ts'

const SVG_TYPE = 'image/svg+xml'
const SVG_POLICY = "default-src 'none'; sandbox"

/** Addresses that lead to a page, and the calendar under the page's own path. */
export function otherWays(api: Api): readonly Route[] {
  return [contestToLedger(api), calendar(api)]
}

/** A contest has one page: that of its ledger, which says all that the contest alone would. Its picture is a badge. */
function contestToLedger(api: Api): Route {
  return {
    path: '/contests/{id}',
    parameters: [],
    allowance: 'none',
    handle(ask) {
      const [, id = '', form] = /^([^.]*)(\.json|\.svg)?$/.exec(ask.segments['id'] ?? '') ?? []
      if (form === '.svg') return badge(api, ask, id)
      const location = form === undefined ? `/contests/${id}/ledger` : `/api/v1/contests/${id}`
      return { is: 'elsewhere', status: 308, location }
    },
  }
}

async function badge(api: Api, ask: Ask, id: string): Promise<Reply> {
  const asked = await api.ask('contestLedger', ask, { segments: { id }, query: 'limit=1' })
  if (!asked.ok) return problemReply(asked.problem)
  const ledger: ContestLedger = JSON.parse(asked.value.json)
  const headers = { 'Content-Security-Policy': SVG_POLICY }
  return {
    is: 'body',
    keep: asked.value.keep,
    etag: 'of-content',
    type: SVG_TYPE,
    body: badgeOf(ledger).markup,
    headers,
  }
}

/** The feed of the API, at the address that people subscribe to. */
function calendar(api: Api): Route {
  const route = api.route('scheduleCalendar')
  return {
    path: '/schedule.ics',
    parameters: route.parameters,
    allowance: 'none',
    showsLog: true,
    handle: (ask) => route.handle({ ...ask, path: ENDPOINT_PATHS.scheduleCalendar }),
  }
}
