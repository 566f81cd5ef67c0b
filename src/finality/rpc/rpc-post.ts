import type { ChainUrl } from './chain-url.ts'
import { RpcFailure } from './rpc-failure.ts'

/** Settings of all requests to RPC servers. */
export type RpcSettings = Readonly<{
  /** Ends every request. */
  signal: AbortSignal
  /** Timeout of one request, from its start to the end of its answer. */
  timeoutMs: number
  /** Monotonic clock, in milliseconds. */
  now: () => number
  fetch?: (url: string, init: RequestInit) => Promise<Response>
  /**
   * Called before each request with its number of calls and the number of its URL. The request waits for the result.
   */
  spend?: (calls: number, url: number) => Promise<void>
  /** Called with the number of the URL, from 1, for each failure of a server. */
  onFault?: (url: number, failure: RpcFailure) => void
}>

/** Bytes of the longest answer. Parsing it takes some tens of milliseconds, or 0.4 s in the worst case. */
const ANSWER_BYTES_MAX: number = 4 * 1024 * 1024

/** Complete answer of any HTTP status. */
export type PostAnswer = Readonly<{ status: number; headers: Headers; text: string }>

/**
 * Sends one POST request with a JSON body. Throws `RpcFailure` without a complete answer in time, and the reason of the
 * signal on abort.
 */
export async function postJson(
  { fetch = globalThis.fetch, signal, timeoutMs }: RpcSettings,
  { href, authorization }: ChainUrl,
  body: unknown,
): Promise<PostAnswer> {
  signal.throwIfAborted()
  const late = AbortSignal.timeout(timeoutMs)
  const give = new AbortController()
  try {
    const response = await fetch(href, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        Accept: 'application/json',
        ...(authorization === null ? {} : { Authorization: authorization }),
      },
      body: JSON.stringify(body),
      signal: AbortSignal.any([signal, late, give.signal]),
      // A redirect would send the queries, and perhaps the key, to a server that nobody chose.
      redirect: 'manual',
      credentials: 'omit',
    })
    return { status: response.status, headers: response.headers, text: await bodyText(response) }
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof RpcFailure) throw error
    throw new RpcFailure(late.aborted ? 'timeout' : 'unreachable')
  } finally {
    // Closes the connection of an answer that was left early.
    give.abort()
  }
}

/** Text of a body. Throws `RpcFailure` for a body that is too long, and the runtime's error for an interrupted one. */
async function bodyText({ body }: Response): Promise<string> {
  const pieces: string[] = []
  const decoder = new TextDecoder()
  const reader = body?.getReader()
  let length = 0
  for (let read = await reader?.read(); read !== undefined && !read.done; read = await reader?.read()) {
    length += read.value.byteLength
    if (length > ANSWER_BYTES_MAX) throw new RpcFailure('too-long')
    pieces.push(decoder.decode(read.value, { stream: true }))
  }
  return pieces.join('') + decoder.decode()
}
