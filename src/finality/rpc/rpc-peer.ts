import { askInBatches, type BatchLimit, openBatchLimit } from './batch-limit.ts'
import type { ChainUrl } from './chain-url.ts'
import { RpcFailure, type RpcFault } from './rpc-failure.ts'
import { postJson, type RpcSettings } from './rpc-post.ts'
import { type CallReply, repliesOf } from './rpc-reply.ts'

/** Calls in the first JSON-RPC batch. */
const BATCH_CALLS = 100
/** Rest after a rate limit without `Retry-After`. */
const REST_MS = 5_000
/** Longest rest that a server may ask for. */
const REST_MS_MAX = 120_000
/** Idle time after which a connection may have ended. Runtimes close idle ones after some seconds. */
const IDLE_MS = 5_000
/** Faults without an answer of the server itself. Another server may answer next. */
const LOST: ReadonlySet<RpcFault> = new Set(['unreachable', 'timeout', 'http-status', 'no-json'])

type RpcCall = Readonly<{ method: string; params: readonly unknown[] }>

/** One RPC server. Its functions throw `RpcFailure`, or the reason of the signal. */
export type RpcPeer = Readonly<{
  url: ChainUrl
  /** Sends one call and returns its result, whose form has not been checked. */
  call: (method: string, params: readonly unknown[]) => Promise<unknown>
  /**
   * Sends calls in JSON-RPC batches of the size that the server accepts, or one by one. `take` gets the result of each
   * successful call by its index, when its batch is answered.
   */
  callAll: (calls: readonly RpcCall[], take: (result: unknown, at: number) => void) => Promise<void>
  /** Reports a failure that does not end the questions. */
  report: (failure: RpcFailure) => void
  /** The last failure that was reported; null before the first one. */
  lastFailure: () => RpcFailure | null
  /** Sends nothing for this time. Calls fail until then. */
  rest: (ms: number) => void
  /** Whether the server rests. */
  isResting: () => boolean
  /** Number of the connection. A new one begins after a request without an answer, and after a pause. */
  connection: () => number
}>

export function openRpcPeer(settings: RpcSettings, url: ChainUrl): RpcPeer {
  const { now, spend } = settings
  const limit: BatchLimit = openBatchLimit(BATCH_CALLS)
  let lastFailure: RpcFailure | null = null
  let nextId = 1
  let restUntil = -Infinity
  let connection = 0
  let answeredMs = now()

  const report = (failure: RpcFailure): void => {
    lastFailure = failure
    settings.onFault?.(url.number, failure)
  }
  const isResting = (): boolean => now() < restUntil
  const rest = (ms: number): void => {
    restUntil = now() + Math.min(ms, REST_MS_MAX)
  }

  /** Sends calls in one request. Returns a reply for each. */
  async function send(calls: readonly RpcCall[]): Promise<readonly CallReply[]> {
    if (isResting()) throw new RpcFailure('rate-limited')
    await spend?.(calls.length, url.number)
    const firstId = nextId
    nextId += calls.length
    const bodies = calls.map((call, at) => ({ jsonrpc: '2.0', id: firstId + at, ...call }))
    let headers = new Headers()
    try {
      const answer = await postJson(settings, url, bodies.length === 1 ? bodies[0] : bodies)
      ;({ headers } = answer)
      const replies = repliesOf(answer, { firstId, calls: calls.length, secrets: url.secrets })
      if (replies.some((reply) => 'failure' in reply && reply.failure.fault === 'rate-limited')) rest(REST_MS)
      return replies
    } catch (error) {
      const asked = restAsked(headers)
      if (asked !== null || (error instanceof RpcFailure && error.fault === 'rate-limited'))
        rest(asked ?? REST_MS)
      if (error instanceof RpcFailure && LOST.has(error.fault)) connection += 1
      throw error
    } finally {
      answeredMs = now()
    }
  }

  return {
    url,
    async call(method, params) {
      const [reply] = await send([{ method, params }])
      if (reply === undefined) throw new RpcFailure('wrong-length')
      if ('failure' in reply) throw reply.failure
      return reply.result
    },
    callAll: (calls, take) =>
      askInBatches(
        limit,
        calls,
        async (batch, from) => {
          const replies = await send(batch)
          for (const [at, reply] of replies.entries()) {
            if ('result' in reply) take(reply.result, from + at)
            else if (batch.length > 1 || reply.failure.fault === 'rpc-error') report(reply.failure)
            else throw reply.failure
          }
        },
        report,
      ),
    report,
    lastFailure: () => lastFailure,
    rest,
    isResting,
    connection() {
      if (now() - answeredMs >= IDLE_MS) {
        connection += 1
        answeredMs = now()
      }
      return connection
    },
  }
}

/** `Retry-After` in milliseconds; null when absent or unreadable. A date is compared with the answer's own `Date`. */
function restAsked(headers: Headers): number | null {
  const text = headers.get('retry-after') ?? ''
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000
  const ms = Date.parse(text) - Date.parse(headers.get('date') ?? '')
  return Number.isNaN(ms) ? null : Math.max(0, ms)
}
