import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Ms } from '../../protocol/moment.ts'
import type { Parameter } from '../../protocol/parameters.ts'
import type { Problem } from '../../protocol/problem.ts'
import type { Coding } from './coding.ts'
import type { ParsedQuery } from './query.ts'

/** What a route is asked: a request whose target, method, allowance and query have passed every check. */
export type RouteRequest = Readonly<{
  method: 'GET' | 'HEAD'
  /** The raw path, never decoded; only letters, digits and `/ _ . -` occur in it. */
  path: string
  /** The path's variable parts by their name in the route's path. */
  segments: Readonly<Record<string, string>>
  query: ParsedQuery
  /** The wall clock, read once for this request. */
  now: Ms
  /** One header of the request; several of the same name are joined by a comma. */
  header(name: string): string | undefined
  /** Whether the caller holds this ETag already: then answer `unchanged` and compute nothing. */
  holds(etag: string): boolean
}>

/** What a route is asked that may write its answer itself, and so needs the connection. */
export type StreamAsk = RouteRequest &
  Readonly<{
    /** The caller as the allowance knows it: what streams are counted by. */
    caller: string
    request: IncomingMessage
    /**
     * Carries the headers common to all answers already (CORS, `Daybook-Log`, `RateLimit`, ...). Only a reply
     * of the form `taken` may write to it.
     */
    response: ServerResponse
  }>

/** How long an answer may be kept: for ever, until asked again with its ETag, or not at all. */
export type Keep = 'immutable' | 'revalidate' | 'no-store'

type Kept = Readonly<{
  keep: Keep
  /** Quoted, weak or strong; `of-content` asks for a digest of the body; null for none. */
  etag: string | null
  /** Further headers, which win over the common ones. */
  headers?: Readonly<Record<string, string>>
}>

/** A body that is ready to be written. */
export type Coded = Readonly<{
  is: 'coded'
  status: number
  type: string
  body: Uint8Array
  coding: Coding | null
  /** Whether another caller might get another coding. */
  codable: boolean
  /** Whether a body of this kind is ever compressed, and so varies by `Accept-Encoding`. */
  compressible: boolean
  rows: number
}>

/** What a route replies. Everything but `taken` is written by `respond`, which also answers HEAD and 304. */
export type Reply =
  /**
   * A body in memory; compressed where the caller takes it, unless `compress` is false. Its status is 200, or that of
   * the problem that it explains.
   */
  | (Kept &
      Readonly<{
        is: 'body'
        status?: number
        type: string
        body: Uint8Array | string
        compress?: boolean
        /** Rows or buckets that a page read; each full thousand costs the allowance of pages one more. */
        rows?: number
      }>)
  /** A body as `encodeBody` makes it: in the coding that the caller prefers, under its final ETag. */
  | (Kept & Coded)
  /** A status and headers, without a body. */
  | Readonly<{ is: 'bare'; status: 204 | 431; headers: Readonly<Record<string, string>> }>
  /** The answer has another address: 308 where it always has, 303 where the question is put in other words. */
  | Readonly<{ is: 'elsewhere'; status: 303 | 308; location: string }>
  /** A file sent as it is, a chunk at a time, never compressed; `bytes` is its length when that is known. */
  | (Kept &
      Readonly<{
        is: 'file'
        status: 200 | 206
        type: string
        bytes: number | null
        chunks: () => Iterable<Uint8Array> | AsyncIterable<Uint8Array>
      }>)
  /** The caller holds what would be answered: 304 with the headers of that 200; `compress` as it has it (files: false). */
  | (Kept & Readonly<{ is: 'unchanged'; compress?: boolean; rows?: number }>)
  | Readonly<{ is: 'problem'; problem: Problem; headers?: Readonly<Record<string, string>> }>
  /** The route writes the response itself, now or later (the stream). */
  | Readonly<{ is: 'taken' }>

/** One address of the public listener. */
export type Route = AnswerRoute | StreamRoute

/** A route whose answer is made whole before it is written. */
export type AnswerRoute = Place &
  Readonly<{
    streaming?: false
    /**
     * Whether the serving loop makes the answer itself, because that never takes longer than 5 ms. Any other answer is
     * made by a thread of its own (`answerer.ts`).
     */
    brief?: boolean | ((query: ParsedQuery) => boolean)
    handle(ask: RouteRequest): Reply | Promise<Reply>
  }>

/** A route whose reply may go on for longer than an ordinary answer is given. */
export type StreamRoute = Place &
  Readonly<{ streaming: true; handle(ask: StreamAsk): Reply | Promise<Reply> }>

type Place = Readonly<{
  /** Begins with `/`; `{name}` is one segment, `{name...}` (last only) is the rest. Also the label of metrics. */
  path: string
  /** The whole list of what its query may hold. */
  parameters: readonly Parameter[]
  /** The allowance that a request costs one of. */
  allowance: 'api' | 'tiles' | 'pages' | 'none'
  /** Outside the API: whether it shows the log, and so shows nothing while the node is not ready. */
  showsLog?: boolean
}>

/** A reply that says what is wrong. */
export function problemReply(problem: Problem, headers?: Readonly<Record<string, string>>): Reply {
  return headers === undefined ? { is: 'problem', problem } : { is: 'problem', problem, headers }
}
