import { openChain } from '../../src/finality/chain/open-chain.ts'
import type { RpcFault } from '../../src/finality/rpc/rpc-failure.ts'
import type { ChainClient } from '../../src/finality/chain/tx-verdict.ts'

/** Results by method, or by method and first parameter. A method without one answers null. */
export type CannedResults = Readonly<Record<string, unknown>>

type CannedClient = Readonly<{
  client: ChainClient
  faults: readonly RpcFault[]
  /** Methods of each request, in order. */
  sent: readonly (readonly string[])[]
}>

/** A client that has identified its servers. Each answers its results in the envelope of JSON-RPC 2.0. */
export async function openCannedClient(
  chain: 'solana' | 'evm',
  ...servers: readonly CannedResults[]
): Promise<CannedClient> {
  const faults: RpcFault[] = []
  const sent: string[][] = []
  const client = openChain({
    chain,
    urls: servers.map((_, at) => `https://rpc.example/${at}`),
    signal: new AbortController().signal,
    timeoutMs: 1_000,
    now: () => 0,
    fetch: async (url, init) => {
      const results = servers[Number(new URL(url).pathname.slice(1))] ?? {}
      const body = JSON.parse(init.body as string)
      const calls: { id: number; method: string; params: unknown[] }[] = Array.isArray(body) ? body : [body]
      sent.push(calls.map(({ method }) => method))
      const replies = calls.map(({ id, method, params }) => ({
        jsonrpc: '2.0',
        result: results[`${method} ${String(params[0])}`] ?? results[method] ?? null,
        id,
      }))
      return new Response(JSON.stringify(Array.isArray(body) ? replies : replies[0]))
    },
    onFault: (_url, { fault }) => faults.push(fault),
  })
  await client.identify(null)
  sent.length = 0
  return { client, faults, sent }
}
