import { billionths, formatAmount } from '../../protocol/amount.ts'
import type { MovedAmount } from './tx-verdict.ts'

/** Decimals of an amount in billionths. */
const AMOUNT_DECIMALS = 9

/** Sum of payouts, in billionths, minus the amount that their transaction moved. Exact, in a unit that both share. */
export function excessOf(paid: bigint, { units, decimals }: MovedAmount): bigint {
  return paid * 10n ** BigInt(decimals) - units * 10n ** BigInt(AMOUNT_DECIMALS)
}

/** Moved amount with nine decimals, or with all of its own if they are more. */
export function formatMoved({ units, decimals }: MovedAmount): string {
  if (decimals <= AMOUNT_DECIMALS) {
    return formatAmount(billionths(units * 10n ** BigInt(AMOUNT_DECIMALS - decimals)))
  }
  const digits = units.toString().padStart(decimals + 1, '0')
  return `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`
}
