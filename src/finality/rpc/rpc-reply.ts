import { type AnswerFields, hasFields } from './answer-shapes.ts'
import { RpcFailure, type RpcFault, type ServerReply } from './rpc-failure.ts'
import type { PostAnswer } from './rpc-post.ts'
import { closingQuote, membersOf } from '../../protocol/json-members.ts'
import { serverReply } from './server-reply.ts'

/** Outcome of one call of an answer. */
export type CallReply = Readonly<{ result: unknown } | { failure: RpcFailure }>

/** JSON-RPC codes of a server that is behind, still starting, or without this part of the history. */
const LAGGING: ReadonlySet<unknown> = new Set([-32_004, -32_007, -32_009, -32_010, -32_011, -32_014, -32_016])
/** Method not found, internal error, and pruned history of EVM. A smaller batch does not avoid them. */
const BROKEN: ReadonlySet<unknown> = new Set([-32_601, -32_603, 4444])
const RATE_CODES: ReadonlySet<unknown> = new Set([429, -32_029, -32_429])
/** Code of an EVM limit (EIP-1474), and of a Solana node that is behind. The message tells which. */
const LIMIT_OR_LAG = -32_005
const RATE_WORDS =
  /too many requests|rate.?limit|request limit|rate exceeded|requests? per (?:second|minute|day)|quota|throughput|credits/i
const LAG_WORDS = /indexing|syncing|behind|unhealthy/i
const SIZE_WORDS = /batch|too (?:large|big|long|many)/i

/** Calls of one request: their number, and their ids from `firstId` on. `secrets` are those of the URL. */
type AskedCalls = Readonly<{ firstId: number; calls: number; secrets: readonly string[] }>

/** Returns a reply for each call, or throws `RpcFailure`. */
export function repliesOf(answer: PostAnswer, { firstId, calls, secrets }: AskedCalls): readonly CallReply[] {
  const { status, text } = answer
  const parsed = parsedOf(text)
  const replyOfServer = (error: AnswerFields | null): ServerReply => serverReply(status, error, secrets)
  if (status !== 200) {
    const error = errorOf(Array.isArray(parsed) ? parsed[0] : parsed)
    throw new RpcFailure(statusFault(status, error), replyOfServer(error))
  }
  if (parsed === undefined) throw new RpcFailure('no-json')
  if (membersIn(text) !== membersOf(parsed)) throw new RpcFailure('repeated-member')
  const given: readonly unknown[] = Array.isArray(parsed) && calls > 1 ? parsed : [parsed]
  const [first] = given
  // A server answers a refused batch with one error, with the id of the first call or none.
  const isOfAll = given.length === 1 && (calls > 1 || idOf(first) === null)
  const error = isOfAll ? errorOf(first) : null
  if (error !== null) throw new RpcFailure(errorFault(error), replyOfServer(error))
  if (given.length !== calls) throw new RpcFailure('wrong-length')
  const byId = new Map(given.map((reply) => [idOf(reply), reply]))
  return Array.from({ length: calls }, (_, at) => {
    const reply = byId.get(firstId + at)
    if (reply === undefined) throw new RpcFailure('wrong-id')
    return replyOf(reply, calls, replyOfServer)
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
function statusFault(status: number, error: AnswerFields | null): RpcFault {
  if (status === 429) return 'rate-limited'
  if (status === 413) return 'refused'
  if (status === 401 || status === 403 || status === 404) return 'http-status'
  if (error !== null) return errorFault(error)
  return status === 400 || status === 422 ? 'refused' : 'http-status'
}

/** Id of a reply: a number, null for none, or undefined for a value that is no id of ours. */
function idOf(reply: unknown): number | null | undefined {
  const id = hasFields(reply) ? reply['id'] : undefined
  return typeof id === 'number' || id === null ? id : undefined
}

/** Error of a reply; null without one. Some proxies give only its message. */
function errorOf(reply: unknown): AnswerFields | null {
  const error = hasFields(reply) ? reply['error'] : null
  if (typeof error === 'string') return { message: error }
  return hasFields(error) ? error : null
}

function replyOf(
  reply: unknown,
  calls: number,
  replyOfServer: (error: AnswerFields) => ServerReply,
): CallReply {
  const wrong: CallReply = { failure: new RpcFailure('wrong-type') }
  if (!hasFields(reply) || reply['jsonrpc'] !== '2.0') return wrong
  const error = errorOf(reply)
  if (error !== null) return { failure: callFailure(error, calls, replyOfServer(error)) }
  return 'result' in reply && (reply['error'] ?? null) === null ? { result: reply['result'] } : wrong
}

/** Failure of one call. The server accepted the batch of the call, unless the error is about its size. */
function callFailure(error: AnswerFields, calls: number, reply: ServerReply): RpcFailure {
  const fault = errorFault(error)
  if (fault !== 'refused' || calls === 1) return new RpcFailure(fault, reply)
  if (SIZE_WORDS.test(messageOf(error))) throw new RpcFailure('refused', reply)
  return new RpcFailure('rpc-error', reply)
}

function errorFault(error: AnswerFields): RpcFault {
  const { code } = error
  const message = messageOf(error)
  if (RATE_CODES.has(code) || RATE_WORDS.test(message)) return 'rate-limited'
  if (SIZE_WORDS.test(message)) return 'refused'
  if (LAGGING.has(code) || LAG_WORDS.test(message)) return 'lagging'
  if (code === LIMIT_OR_LAG) return 'rate-limited'
  return BROKEN.has(code) ? 'rpc-error' : 'refused'
}

const messageOf = ({ message }: AnswerFields): string => (typeof message === 'string' ? message : '')

const QUOTE = 0x22
const COLON = 0x3a

/** Members of all objects in a text that is JSON. */
function membersIn(text: string): number {
  let members = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = closingQuote(text, at)
    else if (code === COLON) members += 1
  }
  return members
}
