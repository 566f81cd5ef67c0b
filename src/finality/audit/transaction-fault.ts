import { excessOf, formatMoved } from '../chain/moved-amount.ts'
import { formatAmount } from '../../protocol/amount.ts'
import type { Seq } from '../../protocol/seq.ts'
import type { AskedTransaction } from './ask-transactions.ts'

/** Seqs of one transaction that a finding names. */
const SEQS_SHOWN = 5

/** Fault of a transaction; null when there is none, or when it is unknown. */
export function faultOf({ verdict, isRecent, paid, moved }: AskedTransaction): string | null {
  switch (verdict.is) {
    case 'failed':
      return `its transaction failed on the chain (${verdict.place})`
    case 'waiting':
      return isRecent ? null : 'its transaction is not final'
    case 'unknown':
      return isRecent ? null : 'no server that was asked knows its transaction'
    case 'unsure':
      return null
    case 'final':
      return moved !== null && excessOf(paid, moved) > 0n
        ? `payouts of ${formatAmount(paid)} name its transaction, in which the payer moved ${formatMoved(moved)}`
        : null
  }
}

/** Whether everything about a transaction was checked and is right. */
export function isSound(one: AskedTransaction, comparesAmounts: boolean): boolean {
  if (one.verdict.is !== 'final' || faultOf(one) !== null) return false
  return !comparesAmounts || one.paid <= 0n || one.moved !== null
}

/** Seqs that name a transaction. If there are many, only the first. */
export function placeOf(seqs: readonly Seq[]): string {
  const more = seqs.length - SEQS_SHOWN
  return `seq ${seqs.slice(0, SEQS_SHOWN).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}
