import { randomBytes } from 'node:crypto'
import { ChainError } from '../../finality/rpc/chain-url.ts'
import { openChain } from '../../finality/chain/open-chain.ts'
import { openRequestPace } from '../../finality/audit/request-pace.ts'
import type { TokenAccount } from '../../finality/chain/tx-verdict.ts'
import { isTx, TX_FORM } from '../../protocol/tx.ts'
import type { ChainQuestions } from '../../finality/audit/ask-chain.ts'
import { WrongError } from '../../verify/reading/finding.ts'
import { readObject } from '../../verify/reading/json-values.ts'
import type { Source } from '../../verify/reading/source.ts'
import { checkAddresses, readServers } from '../../finality/command/chain-words.ts'
import { pauseOf } from '../terminal/client.ts'
import { NODE_PRIMITIVES } from '../terminal/node-primitives.ts'
import { CommandError, type CommandContext } from '../terminal/command-context.ts'

/** Options of `verify` about the chain, as commander parses them. */
export type ChainOptions = Readonly<{
  chain?: string
  payer?: string
  token?: string
  tx?: string
  sample: number
  largest: number
  /** Requests a minute to each server. */
  chainRequests: number
}>

type AskableChain = 'solana' | 'evm'

const KEY_BYTES = 32
const REQUEST_MS_MAX = 20_000

/**
 * Opens the questions to the chain; null without `--chain`. Throws a `CommandError` when the chain is not that of the log,
 * or a server is of another chain. Errors never repeat a URL, which may hold a key, or an address.
 */
export async function openChainQuestions(
  options: ChainOptions,
  source: Source,
  context: CommandContext,
): Promise<ChainQuestions | null> {
  const account = accountOf(options)
  if (options.chain === undefined) {
    if (account !== null) throw new CommandError(2, '--payer and --token need --chain')
    if (options.tx !== undefined) throw new CommandError(2, '--tx needs --chain')
    return null
  }
  const { chain, urls } = readServers('--chain', options.chain)
  if (account !== null) checkAddresses('--', chain, account)
  if (options.tx !== undefined && !isTx(chain, options.tx))
    throw new CommandError(2, `--tx is no transaction of ${chain}: give ${TX_FORM[chain]}`)
  const log = await askLog(source)
  if (log.chain !== null && log.chain !== chain) throw otherChain(log.chain, chain)
  const sleep = pauseOf(context.stop)
  try {
    const client = openChain({
      chain,
      urls,
      signal: context.stop,
      timeoutMs: REQUEST_MS_MAX,
      now: context.monotonicMs,
      spend: openRequestPace(options.chainRequests, context.monotonicMs, sleep),
    })
    // Asked before the log is read, which may take minutes. Servers that are down now may answer later.
    await client.identify(null)
    return {
      chain,
      client,
      hosts: urls.map((url) => new URL(url).host),
      account,
      isSimulated: log.isSimulated,
      sample: options.sample,
      largest: options.largest,
      wanted: options.tx ?? null,
      drawKey: () => randomBytes(KEY_BYTES),
      pause: sleep,
      sha256: NODE_PRIMITIVES.sha256,
      now: context.now,
    }
  } catch (cause) {
    if (cause instanceof ChainError) throw new CommandError(2, `--chain: ${cause.message}`, { cause })
    throw cause
  }
}

function accountOf({ payer, token }: ChainOptions): TokenAccount | null {
  if (payer === undefined && token === undefined) return null
  if (payer === undefined || token === undefined)
    throw new CommandError(2, '--payer and --token go together: amounts are compared only with both')
  return { payer, token }
}

/** Chain of the log by its own word. A folder may lack it; then the form of each transaction tells. */
async function askLog(source: Source): Promise<Readonly<{ chain: string | null; isSimulated: boolean }>> {
  try {
    const body = await source.read('status')
    const status = body === undefined ? {} : readObject('status', body)
    const chain = status['chain']
    return { chain: typeof chain === 'string' ? chain : null, isSimulated: status['simulated'] === true }
  } catch (cause) {
    if (cause instanceof WrongError) throw new CommandError(1, cause.message, { cause })
    throw cause
  }
}

function otherChain(own: string, asked: AskableChain): CommandError {
  return new CommandError(
    2,
    own === 'opaque'
      ? '--chain: this log does not name its chain (opaque), so nobody can be asked about its transactions'
      : `--chain: the transactions of this log are not of ${asked}: give the chain that its /status names`,
  )
}
