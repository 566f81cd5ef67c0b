import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { RpcServer } from '../../sim/chain/rpc-server.ts'
import { openRpcServer } from '../../sim/chain/rpc-server.ts'
import { randomOf } from '../../sim/random.ts'
import { openPaymentChain } from '../finality/payment-fates.ts'
import type { SendPayment } from './contest-drafts.ts'

const TOKEN = 'a-token-of-the-cluster-that-is-long-enough-0123456789'
/** Makes the gate ask in milliseconds. */
const FAST_PACE = join(import.meta.dirname, '..', 'finality', 'fast-pace.ts')

/** Parts that all writers of a cluster share: the token, and a chain that settles their payments. */
type ClusterStage = AsyncDisposable &
  Readonly<{
    token: string
    pay: SendPayment
    /** Command and options of a writer. A log of its own needs `--development` besides. */
    writerWords(data: string): readonly string[]
    /** Environment of a writer. */
    env: Readonly<Record<string, string>>
  }>

export async function openClusterStage(folder: string, seed: string): Promise<ClusterStage> {
  const tokenFile = join(folder, 'token')
  writeFileSync(tokenFile, TOKEN)
  const payments = openPaymentChain('solana', seed)
  const server: RpcServer = await openRpcServer({ chain: payments.chain })
  const random = randomOf(`${seed} chain`)
  const log = ['--finality', `solana=${server.url}`]
  const ports = ['--port', '0', '--publish-port', '0', '--publish-token-file', tokenFile]
  const limits = ['--rate-limit', 'off', '--finality-requests', '100000', '--drain', '0']
  return {
    token: TOKEN,
    pay: (fate) => payments.send(random, fate).tx,
    writerWords: (data) => ['serve', '--data', data, ...log, ...ports, ...limits],
    env: { NODE_OPTIONS: `--import=${FAST_PACE}` },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}
