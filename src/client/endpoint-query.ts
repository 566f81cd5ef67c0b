import type { ParameterName } from '../protocol/endpoints/endpoint-rows.ts'
import type { EndpointId } from '../protocol/paths.ts'
import { ENDPOINT_PATHS } from '../protocol/paths.ts'
import type { Bucket, ContestStatus } from '../protocol/resources.ts'
import type { EventType } from '../protocol/rules.ts'

/** A moment in a query: ISO 8601 in UTC, integer milliseconds since 1970, or a `Date`. */
export type Time = string | number | Date

type ParameterValues = Readonly<{
  at: Time
  from: Time
  to: Time
  status: readonly (ContestStatus | 'closed')[]
  type: readonly EventType[]
  kind: string
  contestId: number
  nonzero: boolean
  tx: string
  after: number
  before: number
  limit: number
  order: 'asc' | 'desc'
  format: 'json' | 'csv'
  bucket: Bucket
  tz: number
}>

/** The parameters of an endpoint, by the table that the service itself is made from. */
export type QueryOf<Id extends EndpointId> = Readonly<{
  [Name in ParameterName<Id>]?: ParameterValues[Name] | undefined
}>

/** Parameters before they are written: what is undefined or `false` is left out, as an empty list is. */
export type Given = Readonly<Record<string, string | number | boolean | Date | readonly string[] | undefined>>

/** A path with its place filled in, and its query. */
export function endpointPath(id: EndpointId, place: string | number, query: Given = {}): string {
  const pairs = Object.entries(query).flatMap(([name, value]) => {
    const text = textOf(value)
    return text === '' ? [] : [`${name}=${encodeURIComponent(text)}`]
  })
  const filled = ENDPOINT_PATHS[id].replace(/\{\w+\}/, encodeURIComponent(place))
  return filled + (pairs.length === 0 ? '' : `?${pairs.join('&')}`)
}

function textOf(value: Given[string]): string {
  if (value === undefined || value === false) return ''
  if (value === true) return '1'
  return value instanceof Date ? value.toISOString() : String(value)
}
