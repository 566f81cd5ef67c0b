import type { Command, Option } from 'commander'
import { ChainError, chainUrlsOf } from '../../finality/rpc/chain-url.ts'
import type { TokenAccount } from '../../finality/chain/tx-verdict.ts'
import type { Chain } from '../../protocol/tx.ts'
import type { AskedChain, FinalitySettings } from '../../finality/gate/finality-settings.ts'
import { REQUESTS_A_MINUTE_MIN } from '../../finality/gate/request-budget.ts'
import { checkAddresses, readServers } from '../terminal/chain-words.ts'
import { option, wholeBetween } from '../terminal/options.ts'
import { CommandError } from '../terminal/world.ts'

/** Options of finality, as commander parses them. */
export type FinalityOptions = Readonly<{
  finality?: string
  finalityAmounts?: string
  finalityRequests: number
  /** Minutes. */
  finalityOverdue: number
}>

const MINUTE_MS = 60_000
const OVERDUE_MINUTES = 60
const OVERDUE_MINUTES_MAX = 10_080
const REQUESTS_A_MINUTE = 240
const REQUESTS_A_MINUTE_MAX = 100_000

/** Adds the options that say how the chain is asked. */
export function finalityOptions(command: Command): Command {
  return command
    .addOption(
      option(
        '--finality <servers>',
        'hold each draft with a transaction until these JSON-RPC servers say that it is final: solana=URL,URL,URL or evm=…; three are best',
      ),
    )
    .addOption(
      option(
        '--finality-amounts <accounts>',
        'hold payouts of more than the payer moved in their transaction: payer=ADDRESS,token=MINT',
      ),
    )
    .addOption(
      option('--finality-requests <n>', 'most requests a minute to each URL of --finality')
        .argParser(wholeBetween(REQUESTS_A_MINUTE_MIN, REQUESTS_A_MINUTE_MAX))
        .default(REQUESTS_A_MINUTE),
    )
    .addOption(overdueOption())
}

/** The option that says from which age a held draft is told, for the service and for `doctor`. */
export function overdueOption(): Option {
  return option(
    '--finality-overdue <minutes>',
    'age from which a draft that still waits for the chain is told',
  )
    .argParser(wholeBetween(1, OVERDUE_MINUTES_MAX))
    .default(OVERDUE_MINUTES)
}

/**
 * Settings of finality for a log of this chain, which is null when it is not known yet; null without `--finality`. Errors never repeat what was given: a URL may
 * hold an API key, and an address is private. So commander, which repeats it, does not parse these options.
 */
export function finalityOf(options: FinalityOptions, chain: Chain | null): FinalitySettings | null {
  const { finality, finalityAmounts, finalityRequests, finalityOverdue } = options
  if (finality === undefined) {
    if (finalityAmounts === undefined) return null
    throw new CommandError(2, '--finality-amounts needs --finality: only the chain knows what was moved')
  }
  const { chain: name, urls } = readFinality(finality)
  if (chain === 'opaque') {
    throw new CommandError(
      2,
      '--finality: this log has --chain opaque, whose transactions nobody can be asked about',
    )
  }
  if (chain !== null && name !== chain) {
    throw new CommandError(2, `--finality: this log has --chain ${chain}: give ${chain}=URL, not ${name}=URL`)
  }
  return {
    chain: name,
    urls,
    requestsPerMinute: finalityRequests,
    amounts: finalityAmounts === undefined ? null : readAmounts(finalityAmounts, name),
    overdueMs: finalityOverdue * MINUTE_MS,
  }
}

function readFinality(text: string): ReturnType<typeof readServers> {
  const servers = readServers('--finality', text)
  try {
    chainUrlsOf(servers.urls)
  } catch (error) {
    if (!(error instanceof ChainError)) throw error
    throw new CommandError(2, `--finality: ${error.message}`)
  }
  return servers
}

const ACCOUNTS = /^\s*payer=([^,\s]+),token=([^,\s]+)\s*$/

function readAmounts(text: string, chain: AskedChain): TokenAccount {
  const [, payer = '', token = ''] = ACCOUNTS.exec(text) ?? []
  if (payer === '' || token === '') {
    throw new CommandError(2, '--finality-amounts: give payer=ADDRESS,token=MINT')
  }
  checkAddresses('--finality-amounts: ', chain, { payer, token })
  return { payer, token }
}
