import { excessOf, formatMoved } from '../chain/moved-amount.ts'
import type { MovedAmount } from '../chain/tx-verdict.ts'
import { type Amount, formatAmount } from '../../protocol/amount.ts'

/**
 * Compares what payouts name with what their transaction moved, exactly. `reason` gives both amounts, and neither
 * account nor transaction.
 */
export function compareAmounts(
  named: Amount,
  moved: MovedAmount,
): Readonly<{ is: 'equal' | 'more' | 'less'; reason: string }> {
  const excess = excessOf(named, moved)
  const is = excess === 0n ? 'equal' : excess > 0n ? 'more' : 'less'
  const reason = `payouts of this transaction name ${formatAmount(named)}, and it moved ${formatMoved(moved)}`
  return { is, reason }
}
