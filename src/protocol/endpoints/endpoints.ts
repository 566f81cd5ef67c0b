import { assert, keysOf } from '../brand.ts'
import type { Parameter } from '../parameters.ts'
import type { Endpoint, EndpointRow, RawType } from './endpoint.ts'
import { ENDPOINT_PARAMETERS } from './endpoint-parameters.ts'
import {
  ENDPOINT_GROUPS,
  ENDPOINT_ROWS,
  type EndpointWithParameters,
  type RawEndpoint,
  type TableEndpoint,
} from './endpoint-rows.ts'
import { ENDPOINT_PATHS, type EndpointId } from '../paths.ts'

/** Every public endpoint. The router, the client, OpenAPI, the pages and the reference derive from this table. */
export const ENDPOINTS: readonly Endpoint[] = keysOf(ENDPOINT_PATHS).map((id) => ({
  ...ENDPOINT_ROWS[id],
  id,
  path: ENDPOINT_PATHS[id],
  tag: tagOf(id),
  parameters: ENDPOINT_ROWS[id].parameters.map((name) => parameterOf(id, name)),
}))

const BY_ID: ReadonlyMap<string, Endpoint> = new Map(ENDPOINTS.map((endpoint) => [endpoint.id, endpoint]))

/** A row of the table of endpoints by its id. */
export function endpointOf(id: EndpointId): Endpoint {
  const found = BY_ID.get(id)
  assert(found !== undefined, `the table of endpoints has a row ${id}`)
  return found
}

const RAW: ReadonlySet<string> = new Set<RawType>([
  'application/gzip',
  'application/octet-stream',
  'text/event-stream',
])

/** Whether an endpoint's answer is binary or endless. */
export function isRaw(id: EndpointId): id is RawEndpoint {
  return RAW.has(ENDPOINT_ROWS[id].answer)
}

function tagOf(id: EndpointId): string {
  const found = ENDPOINT_GROUPS.find(({ rows }) => rows[id] !== undefined)
  assert(found !== undefined, `${id} is in a group`)
  return found.tag
}

function parameterOf(id: EndpointId, name: string): Parameter {
  const defined: Readonly<Partial<Record<string, Omit<Parameter, 'name'>>>> = hasParameters(id)
    ? ENDPOINT_PARAMETERS[id]
    : {}
  const found = defined[name]
  assert(found !== undefined, `the parameter ${name} of ${id} is defined`)
  return { name, ...found }
}

/** Endpoints with a table. */
export const TABLE_ENDPOINTS: readonly TableEndpoint[] = keysOf(ENDPOINT_PATHS).filter(isTableEndpoint)

/** Whether an endpoint answers its list as a table too, with `format=csv`. */
export function isTableEndpoint(id: EndpointId): id is TableEndpoint {
  return ENDPOINT_ROWS[id].table !== undefined
}

/** The table of an endpoint: its list in the answer, and what a row shows. */
export function tableTerms(id: TableEndpoint): NonNullable<EndpointRow['table']> {
  const { table } = ENDPOINT_ROWS[id]
  assert(table !== undefined, `${id} has a table`)
  return table
}

export function hasParameters(id: EndpointId): id is EndpointWithParameters {
  return ENDPOINT_ROWS[id].parameters.length > 0
}
