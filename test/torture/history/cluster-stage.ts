import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { PretendChain } from '../../../sim/chain/pretend-chain.ts'
import { openRpcServer, type RpcServer } from '../../../sim/chain/rpc-server.ts'
import { randomOf } from '../../../sim/random.ts'
import { openPaymentChain } from '../../finality/payment-fates.ts'
import { openRandomRpcServers } from '../../finality/random-rpc-faults.ts'
import type { SendPayment } from './contest-drafts.ts'
import type { History } from './history.ts'

const TOKEN = 'a-token-of-the-cluster-that-is-long-enough-0123456789'
/** Makes the gate ask in milliseconds. */
const FAST_PACE = join(import.meta.dirname, '..', '..', 'finality', 'fast-pace.ts')

/** Parts that all writers of a cluster share: the token, and a chain that settles their payments. */
type ClusterStage = AsyncDisposable &
  Readonly<{
    token: string
    pay: SendPayment
    finals(): History['finals']
    /** Times that a fault of the servers of the chain took effect. */
    chainFaults(): number
    /** Command and options of a writer. A log of its own needs `--development` besides. */
    writerWords(data: string): readonly string[]
    /** Environment of a writer. */
    env: Readonly<Record<string, string>>
  }>

/** With `several` the chain has three servers: one of them lies, and the others fail at random. */
export type ChainServers = 'one' | 'several'

export async function openClusterStage(
  folder: string,
  seed: string,
  chainServers: ChainServers = 'one',
): Promise<ClusterStage> {
  const tokenFile = join(folder, 'token')
  writeFileSync(tokenFile, TOKEN)
  const payments = openPaymentChain('solana', seed)
  const servers = await openChainServers(payments.chain, seed, chainServers)
  const random = randomOf(`${seed} chain`)
  const log = ['--finality', `solana=${servers.urls.join(',')}`]
  const ports = ['--port', '0', '--publish-port', '0', '--publish-token-file', tokenFile]
  const limits = ['--rate-limit', 'off', '--finality-requests', '100000', '--drain', '0']
  return {
    token: TOKEN,
    pay: (fate) => payments.send(random, fate).tx,
    finals: () => new Map(payments.fates.keys().map((tx) => [tx, payments.chain.finalAt(tx)])),
    chainFaults: servers.faults,
    writerWords: (data) => ['serve', '--data', data, ...log, ...ports, ...limits],
    env: { NODE_OPTIONS: `--import=${FAST_PACE}` },
    [Symbol.asyncDispose]: servers[Symbol.asyncDispose],
  }
}

async function openChainServers(
  chain: PretendChain,
  seed: string,
  kind: ChainServers,
): Promise<AsyncDisposable & Readonly<{ urls: readonly string[]; faults(): number }>> {
  if (kind === 'one') {
    const server: RpcServer = await openRpcServer({ chain })
    return { urls: [server.url], faults: () => 0, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() }
  }
  const servers = await openRandomRpcServers(chain, randomOf(`${seed} servers of the chain`))
  // The liar stays the same one: writers that start at different times know the same three servers.
  servers.starting()
  return {
    urls: servers.urls,
    faults: () => Object.values(servers.fired()).reduce((sum, count) => sum + count, 0),
    [Symbol.asyncDispose]: () => servers[Symbol.asyncDispose](),
  }
}
