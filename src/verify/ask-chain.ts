import { ChainError } from '../finality/rpc/chain-url.ts'
import { msOf } from '../protocol/moment.ts'
import type { AskAllSettings } from './ask-all.ts'
import { askTransactions, type TransactionQuestions } from '../finality/audit/ask-transactions.ts'
import { type ChainReport, judgeTransactions } from '../finality/audit/judge-transactions.ts'
import {
  type NamedTransactions,
  openNamedTransactions,
  RECENT_MS,
} from '../finality/audit/named-transactions.ts'
import type { Checklist } from './questions/check.ts'
import type { ReadLog } from './read-log.ts'

/** Waits before the servers are asked which chain they serve, while none answers. */
const WAITS_MS = [0, 1_000, 4_000] as const

/** Settings of a run that asks the chain. */
export type ChainQuestions = Omit<TransactionQuestions, 'onProgress'> &
  Readonly<{
    chain: 'solana' | 'evm'
    /** Hosts of the RPC servers, for the report. */
    hosts: readonly string[]
    isSimulated: boolean
    /** Size of the random sample, and number of transactions with the largest payouts. */
    sample: number
    largest: number
    /** Transaction to ask about in any case; null for none. */
    wanted: string | null
    /** 32 bytes of the verifier's own randomness. */
    drawKey(): Uint8Array
  }>

type ChainSettings = AskAllSettings & Readonly<{ chain: ChainQuestions | null }>

/** Transactions to collect while the log is read; null when the chain is not asked. Draws the key of the sample. */
export function transactionsOf({ chain, primitives, now }: ChainSettings): NamedTransactions | null {
  if (chain === null) return null
  const { sample, largest, wanted } = chain
  const recentFrom = msOf(Math.max(0, now() - RECENT_MS))
  const { sha256 } = primitives
  return openNamedTransactions({
    key: chain.drawKey(),
    sha256,
    chain: chain.chain,
    recentFrom,
    sample,
    largest,
    wanted,
  })
}

/** Asks the chain about a sample of the transactions, and judges its answers. Null when it is not to be asked. */
export async function askChain(
  { chain, onProgress }: ChainSettings,
  list: Checklist,
  { broken, misfit }: ReadLog,
  transactions: NamedTransactions | null,
): Promise<ChainReport | null> {
  if (chain === null || transactions === null) return null
  if (broken !== null || misfit !== null || list.is('root') !== 'right') {
    list.unchecked('chain', 'the events could not all be read')
    return { lines: [], isAnswered: false }
  }
  const chosen = transactions.choose()
  const drawn = [...chosen.sampled, ...chosen.largest]
  const { wanted } = chosen
  const named = wanted === null || drawn.some(({ tx }) => tx === wanted.tx) ? drawn : [...drawn, wanted]
  const chainId = await identified(chain, list)
  if (chainId === undefined) return { lines: [], isAnswered: false }
  const progress = (done: number, total: number): void => onProgress('chain', done, total)
  const reached = chainId === null ? [] : named
  const asked = await askTransactions({ ...chain, onProgress: progress }, reached)
  const comparesAmounts = chain.account !== null
  return judgeTransactions(list, chosen, asked, {
    ...chain,
    chainId,
    faults: chain.client.faults(),
    comparesAmounts,
    asksWanted: chain.wanted !== null,
  })
}

/** Id of the chain; null while too few servers answer, undefined when the servers cannot be asked together. */
async function identified(
  { client, pause }: ChainQuestions,
  list: Checklist,
): Promise<string | null | undefined> {
  try {
    for (const waitMs of WAITS_MS) {
      await pause(waitMs)
      const id = await client.identify(null)
      if (id !== null) return id
    }
    return null
  } catch (error) {
    if (!(error instanceof ChainError)) throw error
    list.unchecked('chain', error.message)
    return undefined
  }
}
