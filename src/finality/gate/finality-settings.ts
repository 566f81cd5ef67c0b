import type { ChainClientSettings, TokenAccount } from '../chain/tx-verdict.ts'
import { POLL_PACE, type PollPace } from './poll-schedule.ts'

/** Chains that can be asked whether a transaction is final. */
export type AskedChain = ChainClientSettings['chain']

/** Pace of the gate, in milliseconds. */
export type GatePace = PollPace &
  Readonly<{
    /** Longest time for one request. */
    timeoutMs: number
    /** Time between two attempts to reach any server after a start without an answer. */
    identifyMs: number
    /** Time between two queries about transactions of published events, and of dropped and failed drafts. */
    againMs: number
    /** Time from the last of those queries to the first one again. */
    roundMs: number
  }>

export const GATE_PACE: GatePace = {
  ...POLL_PACE,
  timeoutMs: 5_000,
  identifyMs: 10_000,
  againMs: 15_000,
  roundMs: 3_600_000,
}

/** Settings by which a log asks its chain. */
export type FinalitySettings = Readonly<{
  chain: AskedChain
  /** JSON-RPC servers. Only the number and the host of a URL are ever shown, because URLs may contain API keys. */
  urls: readonly string[]
  /** Requests a minute to each URL at most. */
  requestsPerMinute: number
  /** Paying account and its token; null when amounts are not compared. Neither is ever shown. */
  amounts: TokenAccount | null
  /** Age in milliseconds from which an unsettled draft is reported. */
  overdueMs: number
  /** `GATE_PACE` if absent. Tests ask faster. */
  pace?: GatePace
}>
