import { openPretendChain, type PretendChain } from '../../sim/chain/pretend-chain.ts'
import type { ChainKind } from '../../sim/chain/chain-settings.ts'
import type { Faults } from '../../sim/chain/rpc-faults.ts'
import { openRpcServer, type RpcServer } from '../../sim/chain/rpc-server.ts'
import { openChain } from '../../src/finality/chain/open-chain.ts'
import type { ChainClient, ChainClientSettings } from '../../src/finality/chain/tx-verdict.ts'

/** Time that makes everything final that was sent before it, on both chains. */
export const FINAL_MS = 2_000_000

/** A pretend chain, its servers and a client of them. Its clock moves only by `step`. */
export type ChainStage = AsyncDisposable &
  Readonly<{
    chain: PretendChain
    servers: readonly RpcServer[]
    client: ChainClient
    /** Faults as `URL number fault`, in order. */
    faults: string[]
    /** Calls as `URL number calls`, in order. */
    spent: string[]
    step: (ms: number) => void
  }>

type StageSettings = Partial<ChainClientSettings> & Readonly<{ tokens?: Readonly<Record<string, number>> }>

/** Opens one server for each set of faults. Does not identify the chain. */
export async function openChainStage(
  kind: ChainKind,
  faultsOf: readonly Faults[],
  { tokens = {}, ...settings }: StageSettings = {},
): Promise<ChainStage> {
  let moment = Date.UTC(2026, 0, 1)
  const now = (): number => moment
  const chain = openPretendChain({ kind, seed: 'stage', now, tokens })
  const servers = await Promise.all(
    faultsOf.map((faults) => openRpcServer({ chain, faults, path: '/v2/SECRET?key=SECRET' })),
  )
  const faults: string[] = []
  const spent: string[] = []
  const client = openChain({
    chain: kind,
    urls: servers.map(({ url }) => url),
    signal: new AbortController().signal,
    timeoutMs: 2_000,
    now,
    onFault: (url, { fault }) => void faults.push(`${url} ${fault}`),
    spend: async (calls, url) => void spent.push(`${url} ${calls}`),
    ...settings,
  })
  return {
    chain,
    servers,
    client,
    faults,
    spent,
    step: (ms) => void (moment += ms),
    [Symbol.asyncDispose]: async () => void (await Promise.all(servers.map((server) => server.close()))),
  }
}
