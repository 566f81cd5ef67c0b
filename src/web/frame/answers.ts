import { assert } from '../../protocol/brand.ts'
import { type Answers, endpointOf, type TableEndpoint } from '../../protocol/endpoints/endpoints.ts'
import { ENDPOINT_PATHS, type EndpointId } from '../../protocol/paths.ts'
import { type Parsed, parsed, refused } from '../../protocol/problem.ts'
import {
  type AnswerRoute,
  problemReply,
  type Reply,
  type Route,
  type RouteRequest,
  type RouteValue,
} from '../../serve/http/route.ts'
import type { Keep } from '../../serve/http/headers.ts'
import { parseQuery } from '../../serve/query/query.ts'
import type { AnyPage, ApiRequest, LinkedAnswer, View } from './page.ts'
import type { PageFormat } from './page-formats.ts'

/** The API for pages, which calls the API's own routes in the same thread, without HTTP. */
export type Api = Readonly<{
  route(endpoint: EndpointId): AnswerRoute
  /** Answer to the page's own request. Ignores its conditional headers, which are about the page. */
  value(endpoint: EndpointId, ask: RouteRequest): Promise<Parsed<RouteValue>>
  /** The CSV of an endpoint's list, with the page's own request. */
  csv(endpoint: TableEndpoint | 'events', ask: RouteRequest): Promise<Reply>
  /** Asks an endpoint with another request, also without conditional headers. */
  ask<Id extends EndpointId>(
    endpoint: Id,
    ask: RouteRequest,
    asked: ApiRequest,
  ): Promise<Parsed<LinkedAnswer<Answers[Id]> & Readonly<{ keep: Keep }>>>
}>

/** Conditional headers of a request are about the page, not about the API's answer. */
const HOLDS_NOTHING: Pick<RouteRequest, 'holds' | 'header'> = { holds: () => false, header: () => undefined }

/** Opens the API for pages over its routes. Pages have no other source of figures. */
export function openApi(routes: readonly Route[]): Api {
  const whole = routes.filter((route): route is AnswerRoute => route.streaming !== true)
  const byPath = new Map(whole.map((route) => [route.path, route]))

  function routeOf(endpoint: EndpointId): AnswerRoute {
    const found = byPath.get(ENDPOINT_PATHS[endpoint])
    assert(found !== undefined, `the API has a route for ${endpoint}`)
    return found
  }

  async function valueOf(endpoint: EndpointId, ask: RouteRequest): Promise<Parsed<RouteValue>> {
    const { value, handle } = routeOf(endpoint)
    if (value !== undefined) return value(ask)
    // The log has some answers as bytes, such as the line of an event.
    const reply = await handle(ask)
    if (reply.is === 'problem') return refused(reply.problem)
    assert(reply.is === 'body', `the endpoint ${endpoint} gives an answer that a page can show`)
    const text = typeof reply.body === 'string' ? reply.body : Buffer.from(reply.body).toString('utf8')
    const isText = endpointOf(endpoint).answer === 'text/plain'
    return parsed({ value: isText ? text : JSON.parse(text), keep: reply.keep })
  }

  return {
    route: routeOf,
    value(endpoint, ask) {
      const path = fillPath(ENDPOINT_PATHS[endpoint], ask.segments)
      return valueOf(endpoint, { ...ask, path, ...HOLDS_NOTHING })
    },
    async csv(endpoint, ask) {
      const route = routeOf(endpoint)
      const asked = parseQuery(ask.query.format({ format: 'csv' }).slice(1), route.parameters)
      if (!asked.ok) return problemReply(asked.problem)
      const path = fillPath(ENDPOINT_PATHS[endpoint], ask.segments)
      return route.handle({ ...ask, path, query: asked.value })
    },
    async ask(endpoint, ask, { segments = {}, query = '' }) {
      const asked = parseQuery(query, routeOf(endpoint).parameters)
      if (!asked.ok) return asked
      const path = fillPath(ENDPOINT_PATHS[endpoint], segments)
      const answered = await valueOf(endpoint, {
        ...ask,
        path,
        segments,
        query: asked.value,
        ...HOLDS_NOTHING,
      })
      if (!answered.ok) return answered
      const { value, keep } = answered.value
      // The route of an endpoint gives its answer.
      const { answer }: Readonly<{ answer: Answers[typeof endpoint] }> = Object({ answer: value })
      return parsed({ answer, address: `${path}${asked.value.format()}`, keep })
    },
  }
}

/** Path with its variable parts replaced by these segments. */
export function fillPath(path: string, segments: Readonly<Record<string, string>>): string {
  return path.replaceAll(/\{(\w+)(?:\.\.\.)?\}/g, (_, name: string) => segments[name] ?? '')
}

/** Maximum rows that a page reads. It shows fewer, and its exports have as many as the query asks for. */
export const PAGE_ROWS_MAX = 1_000

/** Request for at most as many rows as the page reads. Returns the same object if it does not ask for more. */
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

/** Whether an answer has the whole list instead of one page. */
export function isWholeList(
  { next }: Readonly<{ next: string | null }>,
  { query }: Pick<View, 'query'>,
): boolean {
  return next === null && !query.has('after')
}
