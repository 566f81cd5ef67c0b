import { CHARSET } from './cashaddr-search.ts'
import { digitAt, hasOneCase, runEnd } from './letter-run.ts'

const GENERATOR = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3] as const
/** Sum of the generators for each value of the five highest bits. */
const FEEDBACK: Int32Array = Int32Array.from({ length: 32 }, (_, top) =>
  GENERATOR.reduce<number>((sum, generator, bit) => ((top >> bit) & 1 ? sum ^ generator : sum), 0),
)
/** Checksum remainders of valid strings: bech32 (BIP 173) and bech32m (BIP 350). */
const REMAINDERS: ReadonlySet<number> = new Set([1, 0x2bc830a3])

/** Characters of the shortest data part in use: a witness program of two bytes. */
const DATA_CHARS_MIN = 11
/** Characters of the longest human-readable part that is tried; longer than any in use. */
const PREFIX_CHARS_MAX = 24
const CANDIDATE = /1(?=[qpzry9x8gf2tvdw0s3jn54khce6mua7l]{11})/gi

/**
 * Whether the text contains a bech32 or bech32m string with a valid checksum. Libraries decode such a string, but do
 * not find one between other letters. One pass for each possible start tests every possible end. Takes linear time,
 * because data after a separator contains no other separator.
 */
export function holdsBech32(text: string): boolean {
  for (const { index } of text.matchAll(CANDIDATE)) {
    const to = runEnd(CHARSET, text, index + 1)
    for (let from = index - 1; from >= Math.max(0, index - PREFIX_CHARS_MAX); from--) {
      const code = text.charCodeAt(from)
      if (!isWordCharacter(code)) break
      if (isLetter(code) && endsInChecksum(text, from, index, to)) return true
    }
  }
  return false
}

function endsInChecksum(text: string, from: number, separator: number, to: number): boolean {
  let sum = 1
  for (let at = from; at < separator; at++) sum = step(sum, lowerCode(text, at) >> 5)
  sum = step(sum, 0)
  for (let at = from; at < separator; at++) sum = step(sum, lowerCode(text, at) & 31)
  for (let at = separator + 1; at < to; at++) {
    sum = step(sum, digitAt(CHARSET, text, at))
    if (REMAINDERS.has(sum) && at - separator >= DATA_CHARS_MIN && isPlausible(text, from, at + 1))
      return true
  }
  return false
}

/**
 * Whether a match counts as an address. Mixed case is invalid, but a person could fix it, so a whole word counts.
 * Inside a base58 word of mixed case a match is probably chance.
 */
function isPlausible(text: string, from: number, to: number): boolean {
  const found = text.slice(from, to)
  if (hasOneCase(found)) return true
  return !isWordCharacter(text.charCodeAt(from - 1)) && !isWordCharacter(text.charCodeAt(to))
}

function step(sum: number, value: number): number {
  const top = sum >> 25
  return ((sum & 0x1ffffff) << 5) ^ value ^ (FEEDBACK[top] ?? 0)
}

function lowerCode(text: string, at: number): number {
  const code = text.charCodeAt(at)
  return code >= 65 && code <= 90 ? code + 32 : code
}

function isLetter(code: number): boolean {
  const lower = code | 32
  return lower >= 97 && lower <= 122
}

/** Letters, digits, and the underscore, which is in the prefix of some test networks. */
function isWordCharacter(code: number): boolean {
  return isLetter(code) || (code >= 48 && code <= 57) || code === 95
}
