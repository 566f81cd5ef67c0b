import { formatAmount, formatCount, ZERO } from '../../protocol/amount.ts'
import type { Entry } from '../../protocol/event.ts'
import { type Ms, msOf } from '../../protocol/moment.ts'
import { canonicalTx, isTx } from '../../protocol/tx.ts'
import type { Sha256 } from '../../tlog/hash.ts'
import type { ChainCheck, ChainReport } from '../../verify/audit.ts'
import type { Checklist } from '../../verify/checklist.ts'
import { readObject } from '../../verify/reading/json-values.ts'
import type { Source } from '../../verify/reading/source.ts'
import { ChainError } from '../rpc/chain-url.ts'
import { type AskedTransaction, askTransactions, type TransactionLookup } from './ask-transactions.ts'
import {
  type ChosenTransactions,
  type NamedTransactions,
  openNamedTransactions,
  RECENT_MS,
} from './named-transactions.ts'
import { faultOf, isSound, placeOf } from './transaction-fault.ts'
import type { ChainClient } from '../chain/tx-verdict.ts'
import { excessOf } from '../chain/moved-amount.ts'
import { chanceLines } from './miss-chance.ts'

/** Waits before each query about the servers' chain, while none answers. */
const WAITS_MS = [0, 1_000, 4_000] as const

/** Settings of a check against a chain. */
export type ChainCheckSettings = Omit<TransactionLookup, 'onProgress'> &
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
export function openChainCheck(questions: ChainCheckSettings): ChainCheck {
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

function recentFromOf({ now }: ChainCheckSettings): Ms {
  return msOf(Math.max(0, now() - RECENT_MS))
}

/** Asks the chain about a sample of the transactions, and judges its answers. */
async function askChain(
  chain: ChainCheckSettings,
  list: Checklist,
  transactions: NamedTransactions,
  onProgress: TransactionLookup['onProgress'],
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
 * Asks the chain about the transaction of one proved event. Its other payouts are unknown here, so the payer must have
 * moved at least the amount of this one.
 */
async function askEvent(
  chain: ChainCheckSettings,
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

/**
 * Whether the log says that an event is corrected. This is not proved, so a corrected amount is not compared and never
 * counts as right.
 */
async function isCorrected(source: Source, seq: number): Promise<boolean> {
  const path = `events/${seq}/corrections`
  const body = await source.read(path, seq)
  return body === undefined || readObject(path, body)['correctedBy'] !== null
}

/** Id of the chain. Null while too few servers answer; undefined when the servers cannot be used together. */
async function identified(
  { client, pause }: ChainCheckSettings,
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

/** Chain that was asked, as a report names it. */
type AskedChain = Readonly<{
  chain: 'solana' | 'evm'
  /** Genesis hash or chain id; null when too few servers answered. */
  chainId: string | null
  /** Hosts of the RPC servers. Their URLs may contain keys of the user. */
  hosts: readonly string[]
  /** Last faults of the servers, reported when a transaction got no definite answer. */
  faults: ReturnType<ChainClient['faults']>
  /** Whether amounts were compared. */
  comparesAmounts: boolean
  /** Whether the log says that it is simulated. */
  isSimulated: boolean
  /** Whether the user asked about one transaction. */
  asksWanted: boolean
}>

/** Judges a chain's answers about some transactions of a log. */
function judgeTransactions(
  list: Checklist,
  chosen: ChosenTransactions,
  asked: readonly AskedTransaction[],
  chain: AskedChain,
): ChainReport {
  for (const seq of chosen.malformed) {
    list.wrong('chain', { place: `seq ${seq}`, what: `names no transaction of ${chain.chain}` })
  }
  const judged = asked.map((one) => ({ one, what: faultOf(one) }))
  for (const { one, what } of judged)
    if (what !== null) list.wrong('chain', { place: placeOf(one.seqs), what })
  const sound = new Set(asked.filter((one) => isSound(one, chain.comparesAmounts)).map(({ tx }) => tx))
  const wrong = judged.filter(({ what }) => what !== null).length
  const open = asked.length - sound.size - wrong
  const wanted = chain.asksWanted && chain.chainId !== null ? [wantedLine(chosen, asked)] : []
  const isUnsure = open > 0 || chain.chainId === null
  const faults = chain.faults.map(({ server, words }) => `Last fault of ${server}: ${words}.`)
  const lines = [...wanted, ...linesOf(chosen, asked, sound, chain), ...(isUnsure ? faults : [])]
  const amounts = chain.comparesAmounts ? ', and the payer moved at least what their payouts say' : ''
  if (chosen.total === 0) list.unchecked('chain', 'no event names a transaction')
  else if (chain.chainId === null) list.unchecked('chain', 'too few RPC servers answered')
  else if (open > 0)
    list.unchecked(
      'chain',
      `${open} of ${formatCount(asked.length, 'transaction')} got no sure answer; ${sound.size} are right`,
    )
  else
    list.right(
      'chain',
      `${sound.size} of ${formatCount(chosen.total, 'transaction is', 'transactions are')} final${amounts}`,
    )
  return { lines, isAnswered: chosen.total === 0 || sound.size + wrong > 0 }
}

function linesOf(
  { total, sampled, largest }: ChosenTransactions,
  asked: readonly AskedTransaction[],
  sound: ReadonlySet<string>,
  { chain, chainId, hosts, comparesAmounts, isSimulated }: AskedChain,
): readonly string[] {
  const drawn = sampled.filter(({ tx }) => sound.has(tx)).length
  const more = asked.filter(({ paid, moved }) => moved !== null && excessOf(paid, moved) < 0n).length
  const lines: string[] = []
  if (isSimulated)
    lines.push('This log is simulated: its transactions are invented, and no real blockchain has them.')
  if (total > 0) {
    const also = largest.length > 0 ? `, and the ${largest.length} with the largest payouts` : ''
    lines.push(
      sampled.length === total
        ? `The sample is complete: ${formatCount(total, 'transaction')}.`
        : `The sample is ${sampled.length} of ${formatCount(total, 'transaction')}, drawn at random after the checkpoint was fixed${also}.`,
      ...(asked.every((one) => faultOf(one) === null) ? chanceLines(total, drawn) : []),
    )
  }
  if (areUnknownOldest(asked)) {
    lines.push(
      'Every unknown transaction is older than all known ones. A server without the whole history does not know true ones either: ask one that has it.',
    )
  }
  lines.push(
    comparesAmounts
      ? `Amounts: no address and no recipient was compared, only sums. In ${formatCount(more, 'transaction')} the payer moved more than their payouts say.`
      : 'Amounts were not compared: give --payer and --token. This proves only that a transaction exists, succeeded and is final.',
    `Asked at ${hosts.join(' and ')}${chainId === null ? '' : `, ${chain === 'evm' ? 'chain id' : 'genesis'} ${chainId}`}.`,
  )
  return lines
}

/** Answer about the one transaction that the user asked about. */
function wantedLine({ wanted }: ChosenTransactions, asked: readonly AskedTransaction[]): string {
  const found = asked.find(({ tx }) => tx === wanted?.tx)
  if (found === undefined) return 'No event of this log names the transaction of --tx.'
  const { verdict } = found
  const unsure = verdict.is === 'final' ? `it is final, in ${verdict.place}` : 'no sure answer'
  return `The transaction of --tx, ${placeOf(found.seqs)}: ${faultOf(found) ?? unsure}.`
}

/** Whether some transactions are unknown, and all of them were published before every known one. */
function areUnknownOldest(asked: readonly AskedTransaction[]): boolean {
  const seqsWhere = (isIn: (one: AskedTransaction) => boolean): readonly number[] =>
    asked.filter(isIn).map(({ seqs }) => seqs[0] ?? 0)
  const unknown = seqsWhere(({ verdict }) => verdict.is === 'unknown')
  const known = seqsWhere(({ verdict }) => verdict.is === 'final' || verdict.is === 'failed')
  const oldestKnown = known.reduce((least, seq) => Math.min(least, seq), Infinity)
  return unknown.length > 0 && unknown.every((seq) => seq < oldestKnown)
}
