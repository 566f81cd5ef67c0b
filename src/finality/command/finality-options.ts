import { ChainError, chainUrlsOf } from '../rpc/chain-url.ts'
import type { TokenAccount } from '../chain/tx-verdict.ts'
import type { Chain } from '../../protocol/tx.ts'
import type { AskedChain, FinalitySettings } from '../gate/finality-settings.ts'
import type { Judge, ServePart } from '../../command/plug/option.ts'
import { checkAddresses, readServers } from './chain-servers.ts'
import { option, OVERDUE_MINUTES, overdueOption, wholeBetween } from '../../command/terminal/options.ts'
import { UsageError } from '../../command/terminal/command-error.ts'
import { openFinalityMetrics } from './finality-metrics.ts'

const MINUTE_MS = 60_000
/** Fewest requests a minute. A poll of a few transactions must fit into ten seconds. */
const REQUESTS_A_MINUTE_MIN = 60
const REQUESTS_A_MINUTE = 240
const REQUESTS_A_MINUTE_MAX = 100_000

/** Part of `serve`: holds drafts with a transaction until RPC servers confirm it as final. */
export const SERVE_WITH_FINALITY: ServePart = {
  options: [
    option(
      '--finality <servers>',
      'hold each draft with a transaction until these JSON-RPC servers say that it is final: solana=URL,URL,URL or evm=…; three are best',
    ),
    option(
      '--finality-amounts <accounts>',
      'hold payouts of more than the payer moved in their transaction: payer=ADDRESS,token=MINT',
    ),
    option('--finality-requests <n>', 'most requests a minute to each URL of --finality')
      .argParser(wholeBetween(REQUESTS_A_MINUTE_MIN, REQUESTS_A_MINUTE_MAX))
      .default(REQUESTS_A_MINUTE),
    overdueOption(),
  ],
  judge(options: FinalityOptions, chain) {
    const settings = finalityOf(options, chain)
    return settings === null ? null : judgeOf(settings)
  },
  judgeAt: (servers, finalityRequests) =>
    judgeOf(readSettings({ finalityRequests, finalityOverdue: OVERDUE_MINUTES }, servers)),
}

/** Judge of a log that asks its chain with these settings. */
export function judgeOf(settings: FinalitySettings): Judge {
  return {
    module: import.meta.resolve('../gate/open-finality.ts'),
    settings,
    reportReader: openFinalityMetrics,
  }
}

/** Options of finality, as commander parses them. */
export type FinalityOptions = Readonly<{
  finality?: string
  finalityAmounts?: string
  finalityRequests: number
  /** Minutes. */
  finalityOverdue: number
}>

/**
 * Settings of finality for a log of this chain (null while unknown); null without `--finality`. Errors never repeat
 * values, because a URL may contain an API key, and an address is private. So commander, whose errors repeat values,
 * does not parse these options.
 */
export function finalityOf(options: FinalityOptions, chain: Chain | null): FinalitySettings | null {
  const { finality, finalityAmounts } = options
  if (finality === undefined) {
    if (finalityAmounts === undefined) return null
    throw new UsageError('--finality-amounts needs --finality: only the chain knows what was moved')
  }
  const settings = readSettings(options, finality)
  if (chain === 'opaque') {
    throw new UsageError(
      '--finality: this log has --chain opaque, whose transactions nobody can be asked about',
    )
  }
  if (chain !== null && settings.chain !== chain) {
    throw new UsageError(
      `--finality: this log has --chain ${chain}: give ${chain}=URL, not ${settings.chain}=URL`,
    )
  }
  return settings
}

/** Settings for the servers of `--finality`. */
function readSettings(
  { finalityAmounts, finalityRequests, finalityOverdue }: Omit<FinalityOptions, 'finality'>,
  servers: string,
): FinalitySettings {
  const { chain, urls } = readFinality(servers)
  return {
    chain,
    urls,
    requestsPerMinute: finalityRequests,
    amounts: finalityAmounts === undefined ? null : readAmounts(finalityAmounts, chain),
    overdueMs: finalityOverdue * MINUTE_MS,
  }
}

function readFinality(text: string): ReturnType<typeof readServers> {
  const servers = readServers('--finality', text)
  try {
    chainUrlsOf(servers.urls)
  } catch (error) {
    if (!(error instanceof ChainError)) throw error
    throw new UsageError(`--finality: ${error.message}`)
  }
  return servers
}

const ACCOUNTS = /^\s*payer=([^,\s]+),token=([^,\s]+)\s*$/

function readAmounts(text: string, chain: AskedChain): TokenAccount {
  const [, payer = '', token = ''] = ACCOUNTS.exec(text) ?? []
  if (payer === '' || token === '') {
    throw new UsageError('--finality-amounts: give payer=ADDRESS,token=MINT')
  }
  checkAddresses('--finality-amounts: ', chain, { payer, token })
  return { payer, token }
}
