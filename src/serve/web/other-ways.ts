import { ENDPOINT_PATHS } from '../../protocol/paths.ts'
import type { Route } from '../route.ts'
import type { Api } from './answers.ts'

/** Addresses that lead to a page, and the calendar under the page's own path. */
export function otherWays(api: Api): readonly Route[] {
  return [contestToLedger(), calendar(api)]
}

/** A contest has one page: that of its ledger, which says all that the contest alone would. */
function contestToLedger(): Route {
  return {
    path: '/contests/{id}',
    parameters: [],
    allowance: 'none',
    handle({ segments }) {
      const [, id = '', json] = /^([^.]*)(\.json)?$/.exec(segments['id'] ?? '') ?? []
      const location = json === undefined ? `/contests/${id}/ledger` : `/api/v1/contests/${id}`
      return { is: 'elsewhere', status: 308, location }
    },
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
