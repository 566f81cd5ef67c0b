/**
 * Where each public endpoint is, and the names of its parameters: all that a client needs at run time. The forms and
 * meanings of the parameters stand in the table of endpoints, which takes its paths from here.
 */
export const ENDPOINT_PATHS = {
  summary: { path: '/api/v1/summary', query: ['at'] },
  contests: { path: '/api/v1/contests', query: ['status', 'after', 'limit'] },
  contest: { path: '/api/v1/contests/{id}', query: [] },
  contestLedger: { path: '/api/v1/contests/{id}/ledger', query: ['after', 'limit'] },
  schedule: { path: '/api/v1/schedule', query: [] },
  scheduleCalendar: { path: '/api/v1/schedule.ics', query: [] },
  payouts: { path: '/api/v1/payouts', query: ['contestId', 'after', 'limit'] },
  flows: { path: '/api/v1/flows', query: ['from', 'to', 'bucket'] },
  funds: { path: '/api/v1/funds', query: ['from', 'to', 'bucket'] },
  loyaltyRuns: { path: '/api/v1/loyalty/runs', query: [] },
  events: {
    path: '/api/v1/events',
    query: [
      'after',
      'from',
      'to',
      'type',
      'kind',
      'contestId',
      'nonzero',
      'order',
      'before',
      'limit',
      'format',
    ],
  },
  event: { path: '/api/v1/events/{seq}', query: [] },
  eventDetails: { path: '/api/v1/events/{seq}/details', query: [] },
  patterns: { path: '/api/v1/patterns', query: ['from', 'to', 'tz'] },
  archive: { path: '/api/v1/archive', query: [] },
  archiveFile: { path: '/api/v1/archive/{file}', query: [] },
  stream: { path: '/api/v1/stream', query: ['after', 'type', 'kind', 'contestId', 'nonzero'] },
  eventTypes: { path: '/api/v1/event-types', query: [] },
  openapi: { path: '/api/v1/openapi.json', query: [] },
  status: { path: '/api/v1/status', query: [] },
} as const

export type EndpointId = keyof typeof ENDPOINT_PATHS
