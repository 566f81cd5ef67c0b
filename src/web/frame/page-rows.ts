import { assert } from '../../protocol/brand.ts'
import { parseQuery } from '../../serve/query/query.ts'
import type { RouteRequest } from '../../serve/http/route.ts'
import type { Api } from './answers.ts'
import type { AnyPage, View } from './page.ts'
import type { PageFormat } from './page-formats.ts'

/** Maximum rows that a page reads. It shows fewer; its exports have as many as the query asks for. */
export const PAGE_ROWS_MAX = 1_000

/** A request with at most as many rows as the page reads; the same object if it does not ask for more. */
export function limitRows(page: AnyPage, api: Api, ask: RouteRequest, format: PageFormat): RouteRequest {
  const rows = rowsMaxOf(page, ask, format)
  const limit = ask.query.integer('limit')
  if (page.endpoint === null || rows === undefined || (limit !== undefined && limit <= rows)) return ask
  const text = ask.query.format({ limit: String(rows) }).slice(1)
  const query = parseQuery(text, api.route(page.endpoint).parameters)
  assert(query.ok, 'a query with another limit is valid')
  return { ...ask, query: query.value }
}

function rowsMaxOf(
  { rowsMax, pictureRowsMax, previewRowsMax }: AnyPage,
  ask: RouteRequest,
  format: PageFormat,
): number | undefined {
  if (format === '.png') return previewRowsMax
  if (format !== '') return format === '.svg' ? pictureRowsMax : undefined
  return typeof rowsMax === 'function' ? rowsMax(ask.query) : rowsMax
}

/** Whether an answer has the whole list, and not one page of it. */
export function isWholeList(
  { next }: Readonly<{ next: string | null }>,
  { query }: Pick<View, 'query'>,
): boolean {
  return next === null && !query.has('after')
}
