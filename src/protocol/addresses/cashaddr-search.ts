import type { Digits, LetterRun } from './letter-run.ts'
import { digitAt, alphabetDigits, hasOneCase, runEnd } from './letter-run.ts'

/** The characters of bech32. */
export const CHARSET: Digits = alphabetDigits('qpzry9x8gf2tvdw0s3jn54khce6mua7l').map((digit, code, digits) =>
  code >= 65 && code <= 90 ? (digits[code + 32] ?? -1) : digit,
)

/** Prefixes, which are part of the checksum even where they are left out. */
const PREFIXES = ['bitcoincash', 'bchtest', 'bchreg', 'simpleledger', 'ecash', 'etoken', 'ectest'] as const
/** Characters of a version, a hash and a checksum, by the size bits of the version. */
const LENGTHS = [42, 48, 55, 61, 74, 87, 100, 112] as const
const CHARS_MIN = LENGTHS[0]

/** A checksum of 40 bits, in two halves of 20. */
type Sum = { high: number; low: number }
const GENERATOR = [
  [0x98f2b, 0xc8e61],
  [0x79b76, 0xd99e2],
  [0xf33e5, 0xfb3c4],
  [0xae2ea, 0xbe2a8],
  [0x1e4f4, 0x3e470],
] as const
/** Sums of the generators, each half, for each value of the five highest bits. */
const [HIGH_FEEDBACK, LOW_FEEDBACK] = ([0, 1] as const).map((half) =>
  Int32Array.from({ length: 32 }, (_, top) =>
    GENERATOR.reduce<number>((sum, parts, bit) => ((top >> bit) & 1 ? sum ^ parts[half] : sum), 0),
  ),
) as [Int32Array, Int32Array]

/**
 * Checksums that a payload must have by itself for the whole to have 1, for each length and usual prefix. The code is
 * linear, so that a prefix counts as if zeros followed it.
 */
const WANTED: ReadonlyMap<number, readonly Sum[]> = new Map(
  LENGTHS.map((length) => [length, PREFIXES.map((prefix) => wantedAfter(prefix, length))]),
)
/** A prefix that stands in the text, which may be any word. */
const PREFIXED = /(?<![a-z])([a-z]{1,24}):(?=[qpzry9x8gf2tvdw0s3jn54khce6mua7l]{42})/gi

/** Whether the text has a cashaddr payload after a prefix of its own and a colon. */
export function holdsPrefixedCashaddr(text: string): boolean {
  return text.matchAll(PREFIXED).some(({ 0: head, 1: prefix = '', index }) => {
    const from = index + head.length
    const to = payloadEnd(text, from)
    // Letters of a word such as "thanks" may follow the payload.
    if (to > runEnd(CHARSET, text, from)) return false
    return isCashaddr([wantedAfter(prefix.toLowerCase(), to - from)], text, from, to)
  })
}

/** Whether the run has a cashaddr payload: bech32 characters with a checksum of 40 bits. Its prefix may be left out. */
export function holdsCashaddr({ text, edges }: LetterRun): boolean {
  let end = -1
  for (let from = 0; from + CHARS_MIN <= text.length; from++) {
    if (from >= end) end = runEnd(CHARSET, text, from)
    if (edges[from] === 0 || end - from < CHARS_MIN) continue
    const to = payloadEnd(text, from)
    if (to <= end && edges[to] === 1 && isCashaddr(WANTED.get(to - from) ?? [], text, from, to)) return true
  }
  return false
}

/** End of the payload that begins at a position, by the size of the hash in its version byte. */
function payloadEnd(text: string, from: number): number {
  return from + (LENGTHS[(digitAt(CHARSET, text, from + 1) >> 2) & 7] ?? CHARS_MIN)
}

function isCashaddr(wanted: readonly Sum[], text: string, from: number, to: number): boolean {
  // The highest bit of the version is zero, so the first digit is below 16.
  if (digitAt(CHARSET, text, from) > 15) return false
  const sum: Sum = { high: 0, low: 0 }
  for (let at = from; at < to; at++) push(sum, digitAt(CHARSET, text, at))
  const isProved = wanted.some(({ high, low }) => high === sum.high && low === sum.low)
  return isProved && hasOneCase(text.slice(from, to))
}

function wantedAfter(prefix: string, length: number): Sum {
  const sum: Sum = { high: 0, low: 1 }
  for (const letter of prefix) push(sum, letter.charCodeAt(0) & 31)
  for (let zero = 0; zero <= length; zero++) push(sum, 0)
  sum.low ^= 1
  return sum
}

function push(sum: Sum, digit: number): void {
  const top = sum.high >> 15
  sum.high = (((sum.high & 0x7fff) << 5) | (sum.low >> 15)) ^ (HIGH_FEEDBACK[top] ?? 0)
  sum.low = ((sum.low & 0x7fff) << 5) ^ digit ^ (LOW_FEEDBACK[top] ?? 0)
}
