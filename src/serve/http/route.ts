import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Ms } from '../../protocol/moment.ts'
import type { Parameter } from '../../protocol/parameters.ts'
import type { Parsed, Problem } from '../../protocol/problem.ts'
import type { Coding } from './coding.ts'
import type { HeaderList, Keep } from './headers.ts'
import type { ParsedQuery } from '../query/query.ts'
import { keysOf } from '../../protocol/brand.ts'
import { endpointOf } from '../../protocol/endpoints/endpoints.ts'
import type { EndpointId } from '../../protocol/paths.ts'

/** Request that a route answers: its target, method, allowance and query have passed every check. */
export type RouteRequest = Readonly<{
  method: 'GET' | 'HEAD'
  /** Raw path, never decoded, with only letters, digits and `/ _ . -`. */
  path: string
  /** Variable parts of the path by name. */
  segments: Readonly<Record<string, string>>
  query: ParsedQuery
  /** Wall clock, read once for each request. */
  now: Ms
  /** Latest moment that a query may name: `now`, or a little later on a node that follows a log. */
  latest: Ms
  /** One header of the request; several of the same name are joined by a comma. */
  header(name: string): string | undefined
  /** Whether the caller has this ETag already. If so, return `unchanged` and compute nothing. */
  holds(etag: string): boolean
}>

/** Request to a route that may write its answer itself, and so needs the connection. */
export type StreamAsk = RouteRequest &
  Readonly<{
    /** Caller as the allowance knows it. Streams are counted by it. */
    caller: string
    request: IncomingMessage
    /** Only a reply of the form `streamed` may write to it. */
    response: ServerResponse
    /** Common headers of the response, with those about the caller's allowance. */
    headers: HeaderList
  }>

type Kept = Readonly<{
  keep: Keep
  /** Quoted, weak or strong. `of-content` means a digest of the body; null for none. */
  etag: string | null
  /** Further headers, which replace common ones of the same name. */
  headers?: Readonly<Record<string, string>>
}>

/** A body in its final coding. */
type Coded = Readonly<{
  is: 'coded'
  status: number
  type: string
  body: Uint8Array
  coding: Coding | null
  /** Whether the coding depends on the caller. */
  codable: boolean
  /** Whether bodies of this kind may be compressed, and so vary by `Accept-Encoding`. */
  compressible: boolean
  rows: number
  picture?: true
}>

/** Reply of a route. `respond` writes every form except `streamed`, and answers HEAD and 304. */
export type Reply =
  /**
   * Body in memory, compressed if the caller accepts it, unless `compress` is false. Its status is 200, or that of the
   * problem that it explains.
   */
  | (Kept &
      Readonly<{
        is: 'body'
        status?: number
        type: string
        body: Uint8Array | string
        compress?: boolean
        /** Whether the body is an SVG that is drawn as PNG before it is sent (`request/pictures.ts`). */
        picture?: true
        /** Rows or buckets that a page read. Each full thousand counts once more against the allowance of pages. */
        rows?: number
      }>)
  /** Body made by `encodeBody`, in the coding that the caller prefers, with its final ETag. */
  | (Kept & Coded)
  /** A status and headers without a body. */
  | Readonly<{ is: 'bare'; status: 204 | 417 | 431; headers: Readonly<Record<string, string>> }>
  /** Redirect: 308 to the permanent address, 303 to the address of the same question in other words. */
  | Readonly<{ is: 'redirect'; status: 303 | 308; location: string }>
  /** File sent in chunks, never compressed. `bytes` is its length if known. */
  | (Kept &
      Readonly<{
        is: 'file'
        status: 200 | 206
        type: string
        bytes: number | null
        chunks: () => Iterable<Uint8Array> | AsyncIterable<Uint8Array>
      }>)
  /** 304 with the headers of the 200 that it replaces. `compress` is that of the 200 (files: false). */
  | (Kept & Readonly<{ is: 'unchanged'; compress?: boolean; rows?: number }>)
  | Readonly<{ is: 'problem'; problem: Problem; headers?: Readonly<Record<string, string>> }>
  /** The route writes the response itself, now or later (streams). */
  | Readonly<{ is: 'streamed' }>

/** One address of the public listener. */
export type Route = AnswerRoute | StreamRoute

/** A route whose whole answer is made before it is written. */
export type AnswerRoute = Place &
  Readonly<{
    streaming?: false
    /**
     * Whether the serving thread makes the answer itself, because it never takes longer than 5 ms. An answer thread
     * makes any other answer (`request/answer-job.ts`).
     */
    brief?: boolean | ((query: ParsedQuery) => boolean)
    handle(ask: RouteRequest): Reply | Promise<Reply>
    /** Unformatted answer, from which a page is made; absent when there is only a reply. */
    value?(ask: RouteRequest): Parsed<RouteValue>
    /** Part for answers that the serving thread writes itself, as long as the caller reads. Only for HTTP/1.1. */
    whole?: WholePart
  }>

/** An answer before it is formatted, and its caching. */
export type RouteValue = Readonly<{ value: unknown; keep: Keep }>

/** Part of a route whose answers are as long as the log. */
type WholePart = Readonly<{
  /** Whether a request is for such an answer. */
  takes(query: ParsedQuery): boolean
  handle(ask: StreamAsk): Reply
}>

/** Route whose reply may last longer than the time limit of ordinary answers. */
export type StreamRoute = Place &
  Readonly<{ streaming: true; handle(ask: StreamAsk): Reply | Promise<Reply> }>

type Place = Readonly<{
  /**
   * Path that begins with `/`. `{name}` is one segment, `{name...}` (last only) is the rest. Also the label of metrics.
   */
  path: string
  /** All parameters that the query may hold. */
  parameters: readonly Parameter[]
  /** Allowance that a request counts against. */
  allowance: 'api' | 'tiles' | 'pages' | 'none'
  /** Whether a route outside the API shows the log, and so is refused while the node is not ready. */
  showsLog?: boolean
  /** Whether browsers may read it only from pages of this service. */
  sameOrigin?: boolean
}>

/** A reply with a problem. */
export function problemReply(problem: Problem, headers?: Readonly<Record<string, string>>): Reply {
  return headers === undefined ? { is: 'problem', problem } : { is: 'problem', problem, headers }
}

/** Makes the reply to a request that has passed every check. */
export type RouteReply = AnswerRoute['handle']

/** Answer of an endpoint: its reply, and the value from which a page is made, if there is one. */
export type EndpointAnswer = Pick<AnswerRoute, 'handle' | 'value'>

/** Answers of some endpoints, one for each. An answer without a value is only its reply. */
export type EndpointAnswers<Id extends EndpointId> = Readonly<Record<Id, EndpointAnswer | RouteReply>>

/** Path, parameters and allowance of an endpoint's route, from its row. */
export function endpointPlace(id: EndpointId): Pick<Route, 'path' | 'parameters' | 'allowance'> {
  const { path, parameters, allowance = 'api' } = endpointOf(id)
  return { path, parameters, allowance }
}

/** The route of an endpoint that answers at once. */
export function endpointRoute(id: EndpointId, answer: EndpointAnswer | RouteReply): AnswerRoute {
  const made = typeof answer === 'function' ? { handle: answer } : answer
  return { ...endpointPlace(id), brief: endpointOf(id).work === 'brief', ...made }
}

/** The routes of these answers. */
export function endpointRoutes<Id extends EndpointId>(answers: EndpointAnswers<Id>): readonly AnswerRoute[] {
  return keysOf(answers).map((id) => endpointRoute(id, answers[id]))
}
