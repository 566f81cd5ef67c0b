import { UNPAID_SUMS, type UnpaidSums } from '../../project/fold/unpaid.ts'
import { type Amount, billionths, ZERO } from '../../protocol/amount.ts'
import { recordOf } from '../../protocol/brand.ts'
import { decodeAmount, type Row, text } from '../store/codec.ts'

// A column of `unpaid_sums` is null for zero, an integer when 64 bits hold the sum, and decimal text otherwise.
// SQLite's `sum()` throws past 64 bits, so integers are added up in halves of 32 bits, and texts one by one.

/** The contest number of the sums over all contests. */
export const ALL_CONTESTS = 0

const INT64_MAX = (1n << 63n) - 1n
const HALF_BITS = 32n

/** The sums of a row. The statement must read integers as `bigint`. */
export function unpaidSumsOf(row: Row): UnpaidSums {
  return recordOf(UNPAID_SUMS, (name) => {
    const sum = row[name]
    if (sum === null) return ZERO
    return typeof sum === 'bigint' ? billionths(sum) : decodeAmount(text(row, name))
  })
}

/** Formats a sum in the fewest bytes, so that few pages split. */
export function formatSum(amount: Amount): bigint | string | null {
  if (amount === ZERO) return null
  return amount <= INT64_MAX && amount >= -INT64_MAX ? amount : String(amount)
}

/** The columns of a query that adds up rows of sums. `addedSumsOf` reads its result. */
export const ADDED_SUMS: string = UNPAID_SUMS.flatMap((name) => [
  `sum(CASE typeof(${name}) WHEN 'integer' THEN ${name} >> ${HALF_BITS} END) AS ${name}_high`,
  `sum(CASE typeof(${name}) WHEN 'integer' THEN ${name} & ${(1n << HALF_BITS) - 1n} END) AS ${name}_low`,
  `group_concat(CASE typeof(${name}) WHEN 'text' THEN ${name} END) AS ${name}_texts`,
]).join(', ')

export function addedSumsOf(row: Row): UnpaidSums {
  return recordOf(UNPAID_SUMS, (name) => {
    const texts = row[`${name}_texts`]
    const long = typeof texts === 'string' ? texts.split(',') : []
    const short = (bigintOf(row, `${name}_high`) << HALF_BITS) + bigintOf(row, `${name}_low`)
    return billionths(long.reduce((total, digits) => total + BigInt(digits), short))
  })
}

function bigintOf(row: Row, column: string): bigint {
  const value = row[column]
  return typeof value === 'bigint' ? value : 0n
}
