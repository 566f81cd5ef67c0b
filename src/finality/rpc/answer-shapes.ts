import { RpcFailure } from './rpc-failure.ts'

/** A JSON object whose fields have not been checked. */
export type AnswerFields = Readonly<Record<string, unknown>>

export const hasFields = (value: unknown): value is AnswerFields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const HASH = /^0x[0-9a-f]{64}$/
const QUANTITY = /^0x(?:0|[1-9a-f][0-9a-f]{0,13})$/
const UNITS = /^(?:0|[1-9]\d{0,19})$/

/** The functions below return a value of an answer in its type, or throw `RpcFailure` of `wrong-type`. */
const wrong = (): never => {
  throw new RpcFailure('wrong-type')
}

export const asObject = (value: unknown): AnswerFields => (hasFields(value) ? value : wrong())

export const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : wrong())

export const asText = (value: unknown): string => (typeof value === 'string' ? value : wrong())

/** An integer from 0 to 2^53−1. */
export const asCount = (value: unknown): number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : wrong()

/** A hash of 32 bytes as `0x` and 64 small hex digits. */
export function asHash(value: unknown): string {
  const hash = asText(value).toLowerCase()
  return HASH.test(hash) ? hash : wrong()
}

/** A number of EVM, `0x` and hex digits without leading zeros, up to 2^53−1. */
export function asQuantity(value: unknown): number {
  const text = asText(value).toLowerCase()
  return QUANTITY.test(text) ? asCount(Number(text)) : wrong()
}

/** An amount of Solana in decimal digits, up to 20 of them (64 bits). */
export function asUnits(value: unknown): bigint {
  const text = asText(value)
  return UNITS.test(text) ? BigInt(text) : wrong()
}

/** Decimals of a token, one byte on both chains. */
export function asDecimals(value: unknown): number {
  const count = asCount(value)
  return count <= 255 ? count : wrong()
}
