import type { Chain } from '../../protocol/tx.ts'
import type { PollPace } from './poll-schedule.ts'

/** Chains that can be asked whether a transaction is final. */
export type AskedChain = Exclude<Chain, 'opaque'>

/** Account and token of the comparison of amounts. Neither may appear in a log, an error, a metric or an answer. */
export type PayingAccount = Readonly<{ payer: string; token: string }>

/** How a log asks its chain. */
export type FinalitySettings = Readonly<{
  chain: AskedChain
  /** JSON-RPC servers. They may hold API keys, so only the number and the host of a URL are ever shown. */
  urls: readonly string[]
  /** Requests a minute to each URL at most. */
  requestsPerMinute: number
  /** Null when amounts are not compared. */
  amounts: PayingAccount | null
  /** Pace of the questions; `POLL_PACE` if absent. Tests ask faster. */
  pace?: PollPace
}>
