import { assert } from '../../protocol/brand.ts'
import { parseQuery } from '../../serve/http/query.ts'
import type { RouteRequest } from '../../serve/http/route.ts'
import type { Api } from './answers.ts'
import type { AnyPage, View } from './page.ts'
import type { PageForm } from './page-forms.ts'

/** Rows that a page reads at most: it shows fewer, and its exports have as many as are asked for. */
export const ROWS_ASKED_MAX = 1_000

/**
 * What a page asks its endpoint: what it was asked, but no more rows than it reads. The same `ask` where that is no
 * fewer than it was asked for.
 */
export function rowsAsked(page: AnyPage, api: Api, ask: RouteRequest, form: PageForm): RouteRequest {
  const rows = form === '' ? page.rows : form === '.svg' ? page.pictureRows : undefined
  const limit = ask.query.integer('limit')
  if (page.endpoint === null || rows === undefined || (limit !== undefined && limit <= rows)) return ask
  const text = ask.query.format({ limit: String(rows) }).slice(1)
  const query = parseQuery(text, api.route(page.endpoint).parameters)
  assert(query.ok, 'a question with another limit is one that is answered')
  return { ...ask, query: query.value }
}

/** Whether an answer has the whole list, and not one page of it. */
export function isWholeList(
  { next }: Readonly<{ next: string | null }>,
  { query }: Pick<View, 'query'>,
): boolean {
  return next === null && !query.has('after')
}
