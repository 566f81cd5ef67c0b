import type { ParameterName } from '../protocol/endpoints/endpoint-rows.ts'
import { ENDPOINT_PATHS, type EndpointId } from '../protocol/paths.ts'
import type { Bucket, ContestSort, ContestStatus, ReceiptCheckpoint } from '../protocol/enumerations.ts'
import type { EventType } from '../protocol/rules.ts'

/** A moment in a query: ISO 8601 in UTC, integer milliseconds since 1970, or a `Date`. */
export type Time = string | number | Date

type ParameterValues = Readonly<{
  at: Time
  from: Time
  to: Time
  status: readonly (ContestStatus | 'closed')[]
  q: string
  sort: ContestSort
  type: readonly EventType[]
  /** Lists on `/events` and the stream. */
  kind: string | readonly string[]
  /** A list on `/events` and the stream, one id elsewhere. */
  contestId: number | readonly number[]
  nonzero: boolean
  tx: string
  after: number
  lastEventId: number
  before: number
  limit: number
  order: 'asc' | 'desc'
  format: 'json' | 'csv'
  details: boolean
  bucket: Bucket
  tz: number
  checkpoint: ReceiptCheckpoint
}>

/** Parameters of an endpoint, from the same table as the service. */
export type QueryOf<Id extends EndpointId> = Readonly<{
  [Name in ParameterName<Id>]?: ParameterValues[Name] | undefined
}>

/** Values of query parameters. Undefined, `false` and empty lists are left out of the query. */
export type QueryValues = Readonly<
  Record<string, string | number | boolean | Date | readonly string[] | readonly number[] | undefined>
>

/** Path and query of an endpoint; `value` fills the variable part of the path. */
export function endpointPath(id: EndpointId, value: string | number, query: QueryValues = {}): string {
  const pairs = Object.entries(query).flatMap(([name, given]) => {
    const text = textOf(given)
    return text === '' ? [] : [`${name}=${encodeURIComponent(text)}`]
  })
  const filled = ENDPOINT_PATHS[id].replace(/\{\w+\}/, encodeURIComponent(value))
  return filled + (pairs.length === 0 ? '' : `?${pairs.join('&')}`)
}

function textOf(value: QueryValues[string]): string {
  if (value === undefined || value === false) return ''
  if (value === true) return '1'
  return value instanceof Date ? value.toISOString() : String(value)
}
