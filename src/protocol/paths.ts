/**
 * Path of each public endpoint, in the order of the documents. `endpoints.ts` has the rest of an endpoint's row. The
 * paths are apart because a client needs nothing else at run time.
 */
export const ENDPOINT_PATHS = {
  summary: '/api/v1/summary',
  contests: '/api/v1/contests',
  contest: '/api/v1/contests/{id}',
  contestLedger: '/api/v1/contests/{id}/ledger',
  schedule: '/api/v1/schedule',
  scheduleCalendar: '/api/v1/schedule.ics',
  payouts: '/api/v1/payouts',
  waits: '/api/v1/waits',
  flows: '/api/v1/flows',
  funds: '/api/v1/funds',
  loyaltyRuns: '/api/v1/loyalty/runs',
  events: '/api/v1/events',
  event: '/api/v1/events/{seq}',
  eventDetails: '/api/v1/events/{seq}/details',
  eventCorrections: '/api/v1/events/{seq}/corrections',
  patterns: '/api/v1/patterns',
  archive: '/api/v1/archive',
  archiveFile: '/api/v1/archive/{file}',
  logCheckpoint: '/api/v1/log/checkpoint',
  logWitnessedCheckpoint: '/api/v1/log/checkpoint.witnessed',
  logTile: '/api/v1/log/tile/{level}/{tile...}',
  logEntries: '/api/v1/log/tile/entries/{tile...}',
  logKeys: '/api/v1/log/keys',
  logWitnesses: '/api/v1/log/witnesses',
  logProof: '/api/v1/log/proof/{seq}',
  stream: '/api/v1/stream',
  eventTypes: '/api/v1/event-types',
  eventType: '/api/v1/event-types/{type}',
  openapi: '/api/v1/openapi.json',
  asyncapi: '/api/v1/asyncapi.json',
  status: '/api/v1/status',
} as const

/** Path of the Data Package, which describes all files and columns. It is outside the API. */
export const FRICTIONLESS_PATH = '/datapackage.json'

export type EndpointId = keyof typeof ENDPOINT_PATHS

/** Name of a path's variable part: `{seq}`, or `{tile...}` for one that spans several segments. */
type PartsIn<Path extends string> = Path extends `${string}{${infer Part}}${infer Rest}`
  ? (Part extends `${infer Name}...` ? Name : Part) | PartsIn<Rest>
  : never

/** Names of the variable parts of an endpoint's path. */
export type PathPart<Id extends EndpointId = EndpointId> = PartsIn<(typeof ENDPOINT_PATHS)[Id]>

/** Names of the variable parts in a path, in their order. */
export function pathParts(path: string): readonly PathPart[] {
  return [...path.matchAll(/\{(\w+)(?:\.\.\.)?\}/g)].map(([, name = '']) => name as PathPart)
}
