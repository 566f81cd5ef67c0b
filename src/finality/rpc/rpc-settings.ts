import type { RpcFailure } from './rpc-failure.ts'

/** Settings of all requests to RPC servers. */
export type RpcSettings = Readonly<{
  /** Ends every request. */
  signal: AbortSignal
  /** Longest time for one request, from its start to the end of its answer. */
  timeoutMs: number
  /** Monotonic clock, in milliseconds. */
  now: () => number
  fetch?: (url: string, init: RequestInit) => Promise<Response>
  /** Called before each request with its number of calls and the number of its URL. The request waits for it. */
  spend?: (calls: number, url: number) => Promise<void>
  /** Called with the number of the URL, from 1, for each failure of a server. */
  onFault?: (url: number, failure: RpcFailure) => void
}>
