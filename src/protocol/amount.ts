import type { Brand } from './brand.ts'

/** A token amount in billionths. On the wire it is a string with exactly nine decimals (spec, section 1). */
export type Amount = Brand<bigint, 'Amount'>

/** US dollars per token in trillionths. On the wire a string with exactly twelve decimals. */
export type Price = Brand<bigint, 'Price'>

export const ZERO: Amount = 0n as Amount

/** Digits before the point that a draft's amount may have. */
export const AMOUNT_DIGITS_MAX = 18

const AMOUNT = /^-?(?:0|[1-9]\d*)\.\d{9}$/
const DRAFT_AMOUNT = /^-?(?:0|[1-9]\d{0,17})(?:\.\d{1,9})?$/
const DRAFT_PRICE = /^(?:0|[1-9]\d{0,17})(?:\.\d{1,12})?$/
const PRICE = /^(?:0|[1-9]\d*)\.\d{12}$/

/** The amount written with exactly nine decimals; undefined for anything else, `-0.000000000` included. */
export function parseAmount(text: string): Amount | undefined {
  if (!AMOUNT.test(text)) return undefined
  const value = BigInt(text.replace('.', ''))
  return value === 0n && text.startsWith('-') ? undefined : billionths(value)
}

/** An amount as a draft may write it: up to 18 digits before the point and at most nine after it. */
export function parseDraftAmount(text: string): Amount | undefined {
  if (!DRAFT_AMOUNT.test(text)) return undefined
  const value = BigInt(scaled(text, 9))
  return value === 0n && text.startsWith('-') ? undefined : billionths(value)
}

/** `1.000000000` for 1,000,000,000 billionths. */
export function formatAmount(amount: Amount): string {
  return decimal(amount, 9)
}

/** A price as a draft may write it: not negative, at most twelve decimals. */
export function parseDraftPrice(text: string): Price | undefined {
  return DRAFT_PRICE.test(text) ? (BigInt(scaled(text, 12)) as Price) : undefined
}

/** The price written with exactly twelve decimals; undefined for anything else. */
export function parsePrice(text: string): Price | undefined {
  return PRICE.test(text) ? (BigInt(text.replace('.', '')) as Price) : undefined
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

/** The only cast to Amount outside parsing: a count of billionths read back from the store. */
export function billionths(value: bigint): Amount {
  return value as Amount
}

/** A count of trillionths of a dollar read back from the store. */
export function trillionths(value: bigint): Price {
  return value as Price
}

function scaled(text: string, decimals: number): string {
  const point = text.indexOf('.')
  if (point < 0) return text + '0'.repeat(decimals)
  return text.slice(0, point) + text.slice(point + 1).padEnd(decimals, '0')
}

function decimal(value: bigint, decimals: number): string {
  const digits = (value < 0n ? -value : value).toString().padStart(decimals + 1, '0')
  const point = digits.length - decimals
  return `${value < 0n ? '-' : ''}${digits.slice(0, point)}.${digits.slice(point)}`
}
