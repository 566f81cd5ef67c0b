import { assert } from '../../protocol/brand.ts'
import type { Endpoint } from '../../protocol/endpoint.ts'
import { ENDPOINTS } from '../../protocol/endpoints.ts'
import type { AnswerRoute } from './route.ts'

/** A row of the table of endpoints by its id. */
export function endpointOf(id: string): Endpoint {
  const found = ENDPOINTS.find((endpoint) => endpoint.id === id)
  assert(found !== undefined, `the table of endpoints has a row ${id}`)
  return found
}

/** Endpoints whose longest answer takes the serving loop less than 5 ms (`bench/fairness.ts` holds them to it). */
const BRIEF: ReadonlySet<string> = new Set([
  'summary',
  'status',
  'contest',
  'flows',
  'funds',
  'loyaltyRuns',
  'event',
  'eventDetails',
  'eventCorrections',
  'eventTypes',
  'eventType',
  'openapi',
  'asyncapi',
])

/** The route of an endpoint of the table: its path, its parameters, one of the common allowance. */
export function endpointRoute(id: string, handle: AnswerRoute['handle']): AnswerRoute {
  const { path, parameters } = endpointOf(id)
  return { path, parameters, allowance: 'api', brief: BRIEF.has(id), handle }
}
