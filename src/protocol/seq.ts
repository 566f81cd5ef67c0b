import type { Brand } from './brand.ts'

/** Position of an event in the log, from 1, contiguous, at most 2^53−1; 0 means before the first. */
export type Seq = Brand<number, 'Seq'>

/** Number of a contest, 1 to 2^53−1. */
export type ContestId = Brand<number, 'ContestId'>

export const BEFORE_FIRST: Seq = 0 as Seq

const WHOLE = /^(0|[1-9]\d{0,15})$/

/** Parses an integer from 0 to 2^53−1 in decimal digits without a leading zero; undefined for anything else. */
export function parseWhole(text: string): number | undefined {
  if (!WHOLE.test(text)) return undefined
  const value = Number(text)
  return Number.isSafeInteger(value) ? value : undefined
}

/** Parses a seq in decimal digits, 0 included. */
export function parseSeq(text: string): Seq | undefined {
  return parseWhole(text) as Seq | undefined
}

/** Brands a seq, such as a counter or a column of the store. Throws a `RangeError` on any other number. */
export function seqOf(value: number): Seq {
  if (!Number.isSafeInteger(value) || value < 0) throw new RangeError('a seq is an integer from 0 to 2^53−1')
  return value as Seq
}

export function nextSeq(seq: Seq): Seq {
  return seqOf(seq + 1)
}

/** Brands a contest's number. Throws a `RangeError` on any other number. */
export function contestIdOf(value: number): ContestId {
  if (!Number.isSafeInteger(value) || value < 1)
    throw new RangeError('a contest id is an integer from 1 to 2^53−1')
  return value as ContestId
}

export function parseContestId(text: string): ContestId | undefined {
  const value = parseWhole(text)
  return value === undefined || value === 0 ? undefined : (value as ContestId)
}
