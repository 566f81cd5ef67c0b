import type { AnswerFields } from './answer-shapes.ts'
import { hasFields } from './answer-shapes.ts'
import type { RpcFault } from './rpc-failure.ts'
import { RpcFailure } from './rpc-failure.ts'
import type { PostAnswer } from './rpc-post.ts'

/** Outcome of one call of an answer. */
export type CallReply = Readonly<{ result: unknown } | { fault: RpcFault }>

/** JSON-RPC codes of a server that is behind, still starting, or without this part of the history. */
const LAGGING: ReadonlySet<unknown> = new Set([
  -32_004, -32_005, -32_007, -32_009, -32_010, -32_011, -32_014, -32_016,
])
/** Method not found, and internal error. A smaller batch does not avoid them. */
const BROKEN: ReadonlySet<unknown> = new Set([-32_601, -32_603])
const RATE_CODES: ReadonlySet<unknown> = new Set([429, -32_029, -32_429])
const RATE_WORDS =
  /too many requests|rate.?limit|rate exceeded|requests? per (?:second|minute|day)|quota|throughput|credits/i

/** The calls of one request have the ids from `firstId` on. Returns a reply for each, or throws `RpcFailure`. */
export function repliesOf(answer: PostAnswer, firstId: number, calls: number): readonly CallReply[] {
  const { status, text } = answer
  const parsed = parsedOf(text)
  if (status !== 200) throw new RpcFailure(statusFault(status, parsed))
  if (parsed === undefined) throw new RpcFailure('no-json')
  const given: readonly unknown[] = Array.isArray(parsed) && calls > 1 ? parsed : [parsed]
  const replies = given.map((reply) => ({ id: idOf(reply), reply: replyOf(reply) }))
  // A server may answer a batch that it refuses with one error, of the first call or of none.
  const refusal = replies.find(({ reply }) => 'fault' in reply && reply.fault === 'refused')
  if (refusal !== undefined && replies.every(({ reply }) => 'fault' in reply)) throw new RpcFailure('refused')
  const [first] = replies
  const isOfNoCall = replies.length === 1 && (calls > 1 || first?.id === null)
  if (isOfNoCall && first !== undefined && 'fault' in first.reply) throw new RpcFailure(first.reply.fault)
  if (replies.length !== calls) throw new RpcFailure('wrong-length')
  const byId = new Map(replies.map(({ id, reply }) => [id, reply]))
  return Array.from({ length: calls }, (_, at) => {
    const reply = byId.get(firstId + at)
    if (reply === undefined) throw new RpcFailure('wrong-id')
    return reply
  })
}

function parsedOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Fault of an HTTP status other than 200. Providers send some JSON-RPC errors with such a status. */
function statusFault(status: number, body: unknown): RpcFault {
  if (status === 429) return 'rate-limited'
  if (status === 413) return 'refused'
  if (status === 401 || status === 403 || status === 404) return 'http-status'
  const first: unknown = Array.isArray(body) ? body[0] : body
  if (hasFields(first) && hasFields(first['error'])) return errorFault(first['error'])
  return status === 400 || status === 422 ? 'refused' : 'http-status'
}

/** Id of a reply: a number, null for none, or undefined for a value that is no id of ours. */
function idOf(reply: unknown): number | null | undefined {
  const id = hasFields(reply) ? reply['id'] : undefined
  return typeof id === 'number' || id === null ? id : undefined
}

function replyOf(reply: unknown): CallReply {
  if (!hasFields(reply) || reply['jsonrpc'] !== '2.0') return { fault: 'wrong-type' }
  const { error } = reply
  if (hasFields(error)) return { fault: errorFault(error) }
  return 'result' in reply && (error === undefined || error === null)
    ? { result: reply['result'] }
    : { fault: 'wrong-type' }
}

function errorFault({ code, message }: AnswerFields): RpcFault {
  if (RATE_CODES.has(code) || (typeof message === 'string' && RATE_WORDS.test(message))) return 'rate-limited'
  if (LAGGING.has(code)) return 'lagging'
  return BROKEN.has(code) ? 'rpc-error' : 'refused'
}
