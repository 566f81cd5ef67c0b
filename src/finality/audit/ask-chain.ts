import { formatAmount, ZERO } from '../../protocol/amount.ts'
import type { Entry } from '../../protocol/event.ts'
import { type Ms, msOf } from '../../protocol/moment.ts'
import { canonicalTx, isTx } from '../../protocol/tx.ts'
import type { Sha256 } from '../../tlog/hash.ts'
import type { ChainCheck, ChainReport } from '../../verify/audit.ts'
import type { Checklist } from '../../verify/questions/check.ts'
import { readObject } from '../../verify/reading/json-values.ts'
import type { Source } from '../../verify/reading/source.ts'
import { ChainError } from '../rpc/chain-url.ts'
import { askTransactions, type TransactionQuestions } from './ask-transactions.ts'
import { judgeTransactions } from './judge-transactions.ts'
import { type NamedTransactions, openNamedTransactions, RECENT_MS } from './named-transactions.ts'
import { faultOf, isSound } from './transaction-fault.ts'

/** Waits before the servers are asked which chain they serve, while none answers. */
const WAITS_MS = [0, 1_000, 4_000] as const

/** Settings of a check against a chain. */
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
    sha256: Sha256
    /** Local clock. */
    now(): Ms
  }>

/** Opens the check of a log's transactions against a chain. */
export function openChainCheck(questions: ChainQuestions): ChainCheck {
  return {
    collect() {
      const { sha256, chain, sample, largest, wanted } = questions
      const recentFrom = recentFromOf(questions)
      const key = questions.drawKey()
      const named = openNamedTransactions({ key, sha256, chain, recentFrom, sample, largest, wanted })
      return {
        add: named.add,
        ask: (list, onProgress) => askChain(questions, list, named, onProgress),
      }
    },
    askEvent: (list, entry, source) => askEvent(questions, list, entry, source),
  }
}

function recentFromOf({ now }: ChainQuestions): Ms {
  return msOf(Math.max(0, now() - RECENT_MS))
}

/** Asks the chain about a sample of the transactions, and judges its answers. */
async function askChain(
  chain: ChainQuestions,
  list: Checklist,
  transactions: NamedTransactions,
  onProgress: TransactionQuestions['onProgress'],
): Promise<ChainReport> {
  const chosen = transactions.choose()
  const drawn = [...chosen.sampled, ...chosen.largest]
  const { wanted } = chosen
  const named = wanted === null || drawn.some(({ tx }) => tx === wanted.tx) ? drawn : [...drawn, wanted]
  const chainId = await identified(chain, list)
  if (chainId === undefined) return { lines: [], isAnswered: false }
  const reached = chainId === null ? [] : named
  const asked = await askTransactions({ ...chain, onProgress }, reached)
  const comparesAmounts = chain.account !== null
  return judgeTransactions(list, chosen, asked, {
    ...chain,
    chainId,
    faults: chain.client.faults(),
    comparesAmounts,
    asksWanted: chain.wanted !== null,
  })
}

/**
 * Asks the chain about the transaction of one proved event. Other payouts of the transaction are not known here, so the
 * payer must have moved at least the amount of this one.
 */
async function askEvent(
  chain: ChainQuestions,
  list: Checklist,
  { event: { seq, type, tx, kots, atMs } }: Entry,
  source: Source,
): Promise<ChainReport> {
  const none: ChainReport = { lines: [], isAnswered: false }
  const simulated = chain.isSimulated ? ['This log is simulated: its transactions are invented.'] : []
  if (tx === null) {
    list.unchecked('chain', `event ${seq} names no transaction`)
    return none
  }
  if (!isTx(chain.chain, tx)) {
    list.wrong('chain', { place: `seq ${seq}`, what: `names no transaction of ${chain.chain}` })
    return { lines: simulated, isAnswered: true }
  }
  const isPaid = chain.account !== null && type === 'payout' && !(await isCorrected(source, seq))
  const chainId = await identified(chain, list)
  if (chainId === undefined) return none
  if (chainId === null) {
    list.unchecked('chain', 'too few RPC servers answered')
    return none
  }
  const paid = isPaid ? (kots ?? ZERO) : ZERO
  const isRecent = atMs >= recentFromOf(chain)
  const named = { tx: canonicalTx(tx), seqs: [seq], paid, isRecent }
  const [asked] = await askTransactions({ ...chain, onProgress: () => undefined }, [named])
  const fault = asked === undefined ? null : faultOf(asked)
  const at = `asked at ${chain.hosts.join(' and ')}`
  if (fault !== null) list.wrong('chain', { place: `seq ${seq}`, what: `${fault}, ${at}` })
  else if (asked?.verdict.is !== 'final' || !isSound(asked, isPaid))
    list.unchecked('chain', `the servers gave no sure answer about the transaction, ${at}`)
  else {
    const amount = isPaid
      ? `the payer moved at least the ${formatAmount(paid)} of this payout`
      : 'no amount was compared'
    list.right('chain', `the transaction is final, in ${asked.verdict.place}, ${at}; ${amount}`)
  }
  return { lines: simulated, isAnswered: asked?.verdict.is !== 'unsure' }
}

/** Whether the log says that an event is corrected. It is not proved: a corrected amount is not compared, and so never right. */
async function isCorrected(source: Source, seq: number): Promise<boolean> {
  const path = `events/${seq}/corrections`
  const body = await source.read(path, seq)
  return body === undefined || readObject(path, body)['correctedBy'] !== null
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
