import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Ms } from '../protocol/moment.ts'
import type { Parameter } from '../protocol/parameters.ts'
import type { Problem } from '../protocol/problem.ts'
import type { Query } from './query.ts'

/** What a route is asked: a request whose target, method, allowance and query have passed every check. */
export type Ask = Readonly<{
  method: 'GET' | 'HEAD'
  /** The raw path, never decoded; only letters, digits and `/ _ . -` occur in it. */
  path: string
  /** The path's variable parts by their name in the route's path. */
  segments: Readonly<Record<string, string>>
  query: Query
  /** The wall clock, read once for this request. */
  now: Ms
  /** The caller as the allowance knows it: what streams are counted by. */
  caller: string
  /** One header of the request; several of the same name are joined by a comma. */
  header(name: string): string | undefined
  /** Whether the caller holds this ETag already: then answer `unchanged` and compute nothing. */
  holds(etag: string): boolean
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

/** What a route replies. Everything but `taken` is written by `respond`, which also answers HEAD and 304. */
export type Reply =
  /**
   * A body in memory; compressed where the caller takes it, unless `compress` is false. Its status is 200, or that of
   * the problem that it explains.
   */
  | (Kept &
      Readonly<{ is: 'body'; status?: number; type: string; body: Uint8Array | string; compress?: boolean }>)
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
  | (Kept & Readonly<{ is: 'unchanged'; compress?: boolean }>)
  | Readonly<{ is: 'problem'; problem: Problem; headers?: Readonly<Record<string, string>> }>
  /** The route writes the response itself, now or later (the stream). */
  | Readonly<{ is: 'taken' }>

/** One address of the public listener. */
export type Route = Readonly<{
  /** Begins with `/`; `{name}` is one segment, `{name...}` (last only) is the rest. Also the label of metrics. */
  path: string
  /** The whole list of what its query may hold. */
  parameters: readonly Parameter[]
  /** The allowance that a request costs one of. */
  allowance: 'api' | 'tiles' | 'pages' | 'none'
  /** Outside the API: whether it shows the log, and so shows nothing while the node is not ready. */
  showsLog?: boolean
  /** Whether a reply may go on for longer than an ordinary answer is given. */
  streaming?: boolean
  handle(ask: Ask): Reply | Promise<Reply>
}>

/** A reply that says what is wrong. */
export function problemReply(problem: Problem, headers?: Readonly<Record<string, string>>): Reply {
  return headers === undefined ? { is: 'problem', problem } : { is: 'problem', problem, headers }
}
