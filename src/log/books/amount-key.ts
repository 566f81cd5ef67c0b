import type { Amount } from '../../protocol/amount.ts'
import { assert } from '../../protocol/brand.ts'

const LENGTH_DIGITS = 2
const LENGTH_MAX: number = 10 ** LENGTH_DIGITS - 1

/**
 * Sort key of an amount: text whose byte order is the order of amounts. It has a sign, the number of digits, and the
 * digits. For a negative amount each digit d is replaced by 9 − d.
 */
export function amountKey(amount: Amount): string {
  const digits = String(amount).replace('-', '')
  assert(digits.length <= LENGTH_MAX, 'an amount has at most 99 digits')
  const written = `${String(digits.length).padStart(LENGTH_DIGITS, '0')}${digits}`
  return amount < 0n ? `-${written.replaceAll(/\d/g, (digit) => String(9 - Number(digit)))}` : `=${written}`
}
