/** Place of a candidate: a whole word, joined groups, or any part of a longer word. */
export type Fit = 'whole' | 'joined' | 'part'

/**
 * Letters and digits in which an address is searched. A candidate begins and ends at an edge. The caller decides where
 * edges are: at the ends of the text only, at every character, or between joined groups.
 */
export type LetterRun = Readonly<{
  text: string
  /** 1 for each position at which a candidate may begin or end, from 0 to the length of the text. */
  edges: Uint8Array
  /** Positions at which a common word that is glued to an address may end or begin. */
  glued: readonly number[]
  fit: Fit
  /** Whether a checksum of 16 bits in a common form is proof enough for the candidate between two positions. */
  trusts: (from: number, to: number) => boolean
}>

/** Checksums that may still be computed for a reading of a text. */
export type ProofBudget = { left: number }

/** Digit of each character by character code; −1 for a character outside of the alphabet. */
export type Digits = Int8Array

export function alphabetDigits(alphabet: string): Digits {
  return Int8Array.from({ length: 128 }, (_, code) => alphabet.indexOf(String.fromCharCode(code)))
}

/** Digits of an alphabet in small letters, whose capitals are the same digits. */
export function caselessDigits(alphabet: string): Digits {
  const small = alphabetDigits(alphabet)
  return small.map((digit, code) => (code >= 65 && code <= 90 ? (small[code + 32] ?? -1) : digit))
}

/** Digit of the character at a position; −1 outside of the alphabet or the text. */
export function digitAt(digits: Digits, text: string, at: number): number {
  return digits[text.charCodeAt(at)] ?? -1
}

/** End of the run of characters of the alphabet that begins at a position. */
export function runEnd(digits: Digits, text: string, from: number): number {
  let to = from
  while (digitAt(digits, text, to) >= 0) to++
  return to
}

/** Whether letters are all small or all capital. */
export function hasOneCase(text: string): boolean {
  return text === text.toLowerCase() || text === text.toUpperCase()
}

/**
 * Pairs of characters for each pair of equal ones, at least 20 in an address. Chance gives 58, words in any language
 * about 15.
 */
const PAIRS_MIN = 20

/** Whether characters repeat as seldom as in an address. Words and numbers repeat more and need no checksum. */
export function isEven(text: string): boolean {
  const counts = new Map<string, number>()
  let equal = 0
  for (const character of text) {
    const count = counts.get(character) ?? 0
    equal += count
    counts.set(character, count + 1)
  }
  return equal * PAIRS_MIN < (text.length * (text.length - 1)) / 2
}
