import { randomBytes } from 'node:crypto'
import { ChainError } from '../rpc/chain-url.ts'
import { openChain } from '../chain/open-chain.ts'
import { openRpcBudgets } from '../rpc/rpc-budgets.ts'
import type { TokenAccount } from '../chain/tx-verdict.ts'
import { isTx, TX_FORM } from '../../protocol/tx.ts'
import { type ChainCheckSettings, openChainCheck } from '../audit/ask-chain.ts'
import type { VerifyPart } from '../../command/plug/option.ts'
import { optionOf, wholeBetween } from '../../command/terminal/options.ts'
import { WrongError } from '../../verify/reading/finding.ts'
import { readObject } from '../../verify/reading/json-values.ts'
import type { Source } from '../../verify/reading/source.ts'
import { checkAddresses, readServers } from './chain-servers.ts'
import { pauseOf } from '../../command/terminal/client.ts'
import { NODE_PRIMITIVES } from '../../command/terminal/node-primitives.ts'
import type { CommandContext } from '../../command/terminal/command-context.ts'
import { CommandError, UsageError } from '../../command/terminal/command-error.ts'

/** Default sizes. 300 random transactions find one false one in a hundred with a chance of 95%. */
const SAMPLE = 300
const LARGEST = 20
const SAMPLE_MAX = 10_000
/** Requests that public RPC servers allow one address in a minute. */
const REQUESTS = 240
const REQUESTS_MAX = 100_000

// `serve` has options of the same names with other values.
const own = optionOf('verify')

/** Part of `verify`: asks the reader's RPC servers about a sample of the log's transactions. */
export const VERIFY_CHAIN: VerifyPart = {
  options: [
    own('--chain <servers>', 'ask your own RPC servers about payments: solana=URL,URL,URL or evm=URL'),
    own('--payer <address>', 'account that pays, to compare amounts; needs --token'),
    own('--token <address>', 'mint or contract of the paid token; needs --payer'),
    own('--tx <id>', 'transaction to ask the chain about in any case'),
    own('--sample <n>', 'random transactions to ask the chain about')
      .argParser(wholeBetween(1, SAMPLE_MAX))
      .default(SAMPLE),
    own('--largest <n>', 'transactions with the largest payouts to ask about as well')
      .argParser(wholeBetween(0, SAMPLE_MAX))
      .default(LARGEST),
    own('--chain-requests <n>', 'requests a minute to each RPC server at most')
      .argParser(wholeBetween(1, REQUESTS_MAX))
      .default(REQUESTS),
  ],
  help: '  daybook verify https://data.example.org --chain solana=https://rpc.example.org',
  async checkOf(options: ChainOptions, source, context) {
    const questions = await readChainCheck(options, source, context)
    return questions === null ? null : openChainCheck(questions)
  },
}

/** Options of `verify` about the chain, as commander parses them. */
type ChainOptions = Readonly<{
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
 * Opens the check against the chain; null without `--chain`. Throws a `CommandError` when the chain is not that of the
 * log, or a server is of another chain. Errors never repeat a URL, which may contain a key, or an address.
 */
export async function readChainCheck(
  options: ChainOptions,
  source: Source,
  context: CommandContext,
): Promise<ChainCheckSettings | null> {
  const account = accountOf(options)
  if (options.chain === undefined) {
    if (account !== null) throw new UsageError('--payer and --token need --chain')
    if (options.tx !== undefined) throw new UsageError('--tx needs --chain')
    return null
  }
  const { chain, urls } = readServers('--chain', options.chain)
  if (account !== null) checkAddresses('--', chain, account)
  if (options.tx !== undefined && !isTx(chain, options.tx))
    throw new UsageError(`--tx is no transaction of ${chain}: give ${TX_FORM[chain]}`)
  const log = await askLog(source)
  if (log.chain !== null && log.chain !== chain) throw otherChain(log.chain, chain)
  const { monotonicMs } = context
  const sleep = pauseOf(context.stop)
  const { spend } = openRpcBudgets({
    urls: urls.length,
    requestsPerMinute: options.chainRequests,
    monotonicMs,
    sleep,
  })
  try {
    const client = openChain({
      chain,
      urls,
      signal: context.stop,
      timeoutMs: REQUEST_MS_MAX,
      now: monotonicMs,
      spend,
    })
    // Asked before the log is read, which may take minutes. Unreachable servers may answer later.
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
    if (cause instanceof ChainError) throw new UsageError(`--chain: ${cause.message}`, { cause })
    throw cause
  }
}

function accountOf({ payer, token }: ChainOptions): TokenAccount | null {
  if (payer === undefined && token === undefined) return null
  if (payer === undefined || token === undefined)
    throw new UsageError('--payer and --token go together: amounts are compared only with both')
  return { payer, token }
}

/** Chain of the log as the log reports it. A folder may lack it; then the form of each transaction shows the chain. */
async function askLog(source: Source): Promise<Readonly<{ chain: string | null; isSimulated: boolean }>> {
  try {
    const body = await source.read('status')
    const status = body === undefined ? {} : readObject('status', body)
    const chain = status['chain']
    return { chain: typeof chain === 'string' ? chain : null, isSimulated: status['simulated'] === true }
  } catch (cause) {
    if (cause instanceof WrongError) throw new CommandError(cause.message, { cause })
    throw cause
  }
}

function otherChain(ofLog: string, asked: AskableChain): CommandError {
  return new UsageError(
    ofLog === 'opaque'
      ? '--chain: this log does not name its chain (opaque), so nobody can be asked about its transactions'
      : `--chain: the transactions of this log are not of ${asked}: give the chain that its /status names`,
  )
}
