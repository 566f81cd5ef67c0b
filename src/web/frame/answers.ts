import { assert } from '../../protocol/brand.ts'
import type { TableEndpoint } from '../../protocol/endpoints/endpoint-rows.ts'
import { endpointOf } from '../../protocol/endpoints/endpoints.ts'
import { ENDPOINT_PATHS, type EndpointId } from '../../protocol/paths.ts'
import { type Parsed, parsed, type Problem, refused } from '../../protocol/problem.ts'
import { parseQuery } from '../../serve/query/query.ts'
import {
  type AnswerRoute,
  type Keep,
  problemReply,
  type Reply,
  type Route,
  type RouteRequest,
} from '../../serve/http/route.ts'
import type { ApiAnswer, ApiRequest } from './page.ts'

/** Reply of the API to a page: the body and its caching, or a problem. */
export type ApiReply =
  | Readonly<{ is: 'answer'; body: Uint8Array | string; keep: Keep }>
  | Readonly<{ is: 'problem'; problem: Problem }>

/** The API for pages. Calls the API's own routes in the same thread, without HTTP. */
export type Api = Readonly<{
  route(endpoint: EndpointId): AnswerRoute
  /** Asks an endpoint with the page's own request. Ignores its conditional headers, which are about the page. */
  reply(endpoint: EndpointId, ask: RouteRequest): Promise<ApiReply>
  /** The CSV of an endpoint's list, with the page's own request. */
  csv(endpoint: TableEndpoint | 'events', ask: RouteRequest): Promise<Reply>
  /** Asks an endpoint with another request, also without conditional headers. */
  ask(
    endpoint: EndpointId,
    ask: RouteRequest,
    asked: ApiRequest,
  ): Promise<Parsed<ApiAnswer & Readonly<{ keep: Keep }>>>
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

  async function replyOf(endpoint: EndpointId, ask: RouteRequest): Promise<ApiReply> {
    const reply = await routeOf(endpoint).handle(ask)
    switch (reply.is) {
      case 'body':
        return { is: 'answer', body: reply.body, keep: reply.keep }
      case 'problem':
        return { is: 'problem', problem: reply.problem }
      case 'coded':
      case 'bare':
      case 'unchanged':
      case 'elsewhere':
      case 'file':
      case 'taken':
        throw new Error(`the endpoint ${endpoint} gives no answer that a page can show`)
    }
  }

  return {
    route: routeOf,
    reply(endpoint, ask) {
      const path = fillPath(ENDPOINT_PATHS[endpoint], ask.segments)
      return replyOf(endpoint, { ...ask, path, ...HOLDS_NOTHING })
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
      const reply = await replyOf(endpoint, { ...ask, path, segments, query: asked.value, ...HOLDS_NOTHING })
      if (reply.is === 'problem') return refused(reply.problem)
      const json = jsonText(reply.body)
      const value: unknown = isText(endpoint) ? json : JSON.parse(json)
      return parsed({ json, value, address: `${path}${asked.value.format()}`, keep: reply.keep })
    },
  }
}

/** Whether an endpoint answers text in place of JSON. */
function isText(endpoint: EndpointId): boolean {
  return endpointOf(endpoint).answer === 'text/plain'
}

/** A path with its variable parts replaced by these segments. */
export function fillPath(path: string, segments: Readonly<Record<string, string>>): string {
  return path.replaceAll(/\{(\w+)(?:\.\.\.)?\}/g, (_, name: string) => segments[name] ?? '')
}

/** Body of an answer as text. */
export function jsonText(body: Uint8Array | string): string {
  return typeof body === 'string' ? body : Buffer.from(body).toString('utf8')
}
