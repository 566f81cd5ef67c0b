import type { Amount } from '../../protocol/amount.ts'
import { assert } from '../../protocol/brand.ts'

const LENGTH_DIGITS = 2
const LENGTH_MAX: number = 10 ** LENGTH_DIGITS - 1

/**
 * Text that sorts as its amount does, in byte order. After a sign come the number of digits and the digits. For an
 * amount below zero each digit is replaced by its difference from nine.
 */
export function amountKey(amount: Amount): string {
  const digits = String(amount).replace('-', '')
  assert(digits.length <= LENGTH_MAX, 'an amount has at most 99 digits')
  const written = `${String(digits.length).padStart(LENGTH_DIGITS, '0')}${digits}`
  return amount < 0n ? `-${written.replaceAll(/\d/g, (digit) => String(9 - Number(digit)))}` : `=${written}`
}
