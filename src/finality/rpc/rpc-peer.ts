import { askInBatches, type BatchLimit, openBatchLimit } from './batch-limit.ts'
import type { ChainUrl } from './chain-url.ts'
import { RpcFailure } from './rpc-failure.ts'
import { openRpcRequests, type RpcCall, type RpcRequests } from './rpc-requests.ts'
import type { RpcSettings } from './rpc-settings.ts'

/** Calls in the first JSON-RPC batch. */
const BATCH_CALLS = 100

/** One RPC server. Its functions throw `RpcFailure`, or the reason of the signal. */
export type RpcPeer = Omit<RpcRequests, 'send'> &
  Readonly<{
    url: ChainUrl
    /** Sends one call and returns its result, whose form has not been checked. */
    call: (method: string, params: readonly unknown[]) => Promise<unknown>
    /**
     * Sends calls in JSON-RPC batches of the size that the server takes, or one by one. `take` gets the result of each by
     * its place, as soon as its batch is answered, except for calls that failed.
     */
    callAll: (calls: readonly RpcCall[], take: (result: unknown, at: number) => void) => Promise<void>
    /** Reports a failure that does not end the questions. */
    report: (failure: RpcFailure) => void
    /** The last failure that was reported; null before the first one. */
    lastFailure: () => RpcFailure | null
  }>

export function openRpcPeer(settings: RpcSettings, url: ChainUrl): RpcPeer {
  const { send, ...requests } = openRpcRequests(settings, url)
  const limit: BatchLimit = openBatchLimit(BATCH_CALLS)
  let lastFailure: RpcFailure | null = null

  const report = (failure: RpcFailure): void => {
    lastFailure = failure
    settings.onFault?.(url.number, failure)
  }

  return {
    ...requests,
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
  }
}
