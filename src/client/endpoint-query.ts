import type { Queries } from '../protocol/endpoints/endpoints.ts'
import { ENDPOINT_PATHS, type EndpointId } from '../protocol/paths.ts'

/** Parameters of an endpoint, from the same table as the service. */
export type QueryOf<Id extends EndpointId> = Readonly<{
  [Name in keyof Queries[Id]]?: Queries[Id][Name] | undefined
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
