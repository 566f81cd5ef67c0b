import type { ChainClient } from '../chain/tx-verdict.ts'
import { excessOf } from '../chain/moved-amount.ts'
import type { ChainReport } from '../../verify/audit.ts'
import type { Checklist } from '../../verify/questions/check.ts'
import type { AskedTransaction } from './ask-transactions.ts'
import { chanceLines } from './miss-chance.ts'
import type { ChosenTransactions } from './named-transactions.ts'
import { faultOf, isSound, placeOf } from './transaction-fault.ts'
import { formatCount } from '../../protocol/amount.ts'

/** Chain that was asked, as a report names it. */
type AskedChain = Readonly<{
  chain: 'solana' | 'evm'
  /** Genesis hash or chain id; null when too few servers answered. */
  chainId: string | null
  /** Hosts of the RPC servers. Their URLs may hold keys of the user. */
  hosts: readonly string[]
  /** Last faults of the servers, told when a transaction got no sure answer. */
  faults: ReturnType<ChainClient['faults']>
  /** Whether amounts were compared. */
  comparesAmounts: boolean
  /** Whether the log says that it is simulated. */
  isSimulated: boolean
  /** Whether the user asked about one transaction. */
  asksWanted: boolean
}>

/** Judges the answers of a chain about some transactions of a log. */
export function judgeTransactions(
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
