import type { Brand } from './brand.ts'

/** Token amount in billionths. In answers a string with exactly nine decimals (PROTOCOL.md, section 1). */
export type Amount = Brand<bigint, 'Amount'>

/** US dollars per token, in trillionths. In answers a string with exactly twelve decimals. */
export type Price = Brand<bigint, 'Price'>

export const ZERO: Amount = 0n as Amount

/** Most digits before the decimal point in a draft's amount. */
export const AMOUNT_DIGITS_MAX = 18

/** Amounts in answers. */
export const AMOUNT_PATTERN: RegExp = /^-?(?:0|[1-9]\d*)\.\d{9}$/
/** Prices in answers. */
export const PRICE_PATTERN: RegExp = /^(?:0|[1-9]\d*)\.\d{12}$/
const DRAFT_AMOUNT = /^-?(?:0|[1-9]\d{0,17})(?:\.\d{1,9})?$/
const DRAFT_PRICE = /^(?:0|[1-9]\d{0,17})(?:\.\d{1,12})?$/

/** Parses an amount with exactly nine decimals; undefined for anything else, including `-0.000000000`. */
export function parseAmount(text: string): Amount | undefined {
  if (!AMOUNT_PATTERN.test(text)) return undefined
  const value = BigInt(text.replace('.', ''))
  return value === 0n && text.startsWith('-') ? undefined : billionths(value)
}

/** Parses an amount in a draft: up to 18 digits before the decimal point and at most nine after it. */
export function parseDraftAmount(text: string): Amount | undefined {
  if (!DRAFT_AMOUNT.test(text)) return undefined
  const value = BigInt(scaled(text, 9))
  return value === 0n && text.startsWith('-') ? undefined : billionths(value)
}

/** Formats an amount: `1.000000000` for 1,000,000,000 billionths. */
export function formatAmount(amount: Amount): string {
  return decimal(amount, 9)
}

/** Parses a price in a draft: not negative, at most twelve decimals. */
export function parseDraftPrice(text: string): Price | undefined {
  return DRAFT_PRICE.test(text) ? (BigInt(scaled(text, 12)) as Price) : undefined
}

/** Parses a price with exactly twelve decimals; undefined for anything else. */
export function parsePrice(text: string): Price | undefined {
  return PRICE_PATTERN.test(text) ? (BigInt(text.replace('.', '')) as Price) : undefined
}

export function formatPrice(price: Price): string {
  return decimal(price, 12)
}

export function add(a: Amount, b: Amount): Amount {
  return billionths(a + b)
}

export function subtract(a: Amount, b: Amount): Amount {
  return billionths(a - b)
}

export function negate(a: Amount): Amount {
  return billionths(0n - a)
}

export function smaller(a: Amount, b: Amount): Amount {
  return a < b ? a : b
}

/** Brands a number of billionths, such as a column of the store. */
export function billionths(value: bigint): Amount {
  return value as Amount
}

/** Brands a number of trillionths of a dollar, such as a column of the store. */
export function trillionths(value: bigint): Price {
  return value as Price
}

function scaled(text: string, decimals: number): string {
  const point = text.indexOf('.')
  if (point < 0) return text + '0'.repeat(decimals)
  return text.slice(0, point) + text.slice(point + 1).padEnd(decimals, '0')
}

function decimal(value: bigint, decimals: number): string {
  const isNegative = value < 0n
  const digits = (isNegative ? -value : value).toString().padStart(decimals + 1, '0')
  const point = digits.length - decimals
  return `${isNegative ? '-' : ''}${digits.slice(0, point)}.${digits.slice(point)}`
}

/** Count with its noun: `1 event`, `0 events`, `2 witnesses`. `many` is the plural. */
export function formatCount(count: number | bigint, one: string, many = `${one}s`): string {
  return `${count} ${nounOf(count, one, many)}`
}

/** Noun after a count: `event` for 1, else `events`. `many` is the plural. */
export function nounOf(count: number | bigint, one: string, many = `${one}s`): string {
  return Number(count) === 1 ? one : many
}
