import type { MovedAmount } from '../../chain/tx-verdict.ts'
import type { Amount } from '../../protocol/amount.ts'
import { formatAmount } from '../../protocol/amount.ts'

/** Decimals of an amount in billionths. */
const AMOUNT_DECIMALS = 9n

/**
 * Compares what payouts name with what their transaction moved, exactly. `reason` gives both amounts, and neither
 * account nor transaction.
 */
export function compareAmounts(
  named: Amount,
  moved: MovedAmount,
): Readonly<{ is: 'equal' | 'more' | 'less'; reason: string }> {
  const ours = named * 10n ** BigInt(moved.decimals)
  const theirs = moved.units * 10n ** AMOUNT_DECIMALS
  const is = ours === theirs ? 'equal' : ours > theirs ? 'more' : 'less'
  const reason = `payouts of this transaction name ${formatAmount(named)}, and it moved ${formatUnits(moved)}`
  return { is, reason }
}

/** An amount of a token in decimal digits, with all its decimals. */
function formatUnits({ units, decimals }: MovedAmount): string {
  const digits = units.toString().padStart(decimals + 1, '0')
  const split = digits.length - decimals
  return decimals === 0 ? digits : `${digits.slice(0, split)}.${digits.slice(split)}`
}
