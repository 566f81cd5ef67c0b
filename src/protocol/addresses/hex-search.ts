import { keccak_256 } from '@noble/hashes/sha3.js'
import type { LetterRun, ProofBudget } from './letter-run.ts'

/**
 * A run of 64 or more hex digits, which is a digest or a transaction and no address, without the first character of a
 * prefix that follows it.
 */
const DIGEST = /[0-9a-f]{64,}(?<![0c](?=x[0-9a-f]{40}))/gi
const DIGEST_DIGITS_MIN = 64
/** Digests have a multiple of so many digits. The other digits of a run may belong to a text beside the digest. */
const DIGEST_DIGITS_STEP = 32
const ADDRESS_DIGITS = 40
/** Cost of a checksum of EIP-55 in those of base58. */
const EIP55_COST = 4
const HEX_RUN = /[0-9a-f]{40,}/gi
/** A prefix and its digits: `0x`, `xdc` of XDC, `hx` and `cx` of ICON. The letter O looks like the digit. */
const PREFIXED_RUN = /([0Och]x|xdc)([0-9a-f]{40,})/gi

/** Digits that a contract puts before an address to make a word of 32 bytes, or after it. No digest has them by chance. */
const PADDING = '0'.repeat(24)
const PADDED = /(?=0{24}([0-9a-f]{40})|([0-9a-f]{40})0{24})/gi
/** Digits of an address that are not zero. Numbers have fewer: 80 bits are more than any amount. */
const ADDRESS_DIGITS_SET_MIN = 21

/**
 * Whether the text has 64 hex digits of which 24 at one end are zeros and the others are no number: an address in the form
 * in which contracts and their logs have it.
 */
export function holdsPaddedHex(text: string): boolean {
  if (!text.includes(PADDING)) return false
  return text.matchAll(PADDED).some(({ 1: after, 2: before }) => isAddressWord(after ?? before ?? ''))
}

function isAddressWord(digits: string): boolean {
  return /[a-f]/i.test(digits) && digits.replaceAll('0', '').length >= ADDRESS_DIGITS_SET_MIN
}

/**
 * Replaces runs of 64 or more hex digits by a character that joins no groups, since about one digest in sixty has a base58
 * run of 32 bytes inside. An address that touches a digest may begin or end with hex digits, such as `bc1`: they are kept.
 */
export function withoutDigests(text: string): string {
  return text.replace(DIGEST, (run) => {
    const rest = run.length % DIGEST_DIGITS_STEP
    return `${run.slice(0, rest)}|${run.slice(run.length - rest)}`
  })
}

/**
 * Whether a prefix such as `0x` and 40 hex digits are in the run, and no hex digit follows except those of a glued word
 * such as "address". Between joined groups, the prefix begins a group, and the digits may also end with one, because the
 * next group may be a word.
 */
export function holdsPrefixedHex({ text, edges, glued, fit }: LetterRun): boolean {
  for (const { 1: prefix = '', 2: digits = '', index } of text.matchAll(PREFIXED_RUN)) {
    const end = index + prefix.length + ADDRESS_DIGITS
    const begins = fit !== 'joined' || edges[index] === 1
    if (digits.length === ADDRESS_DIGITS && begins) return true
    if (glued.includes(end)) return true
    const endsGroup = fit === 'joined' && begins && edges[end] === 1
    if (endsGroup && digits.length < DIGEST_DIGITS_MIN) return true
  }
  return false
}

/** Most hex digits of a word that touches an address, such as `dc` in `xdc`. */
const WORD_DIGITS_MAX = 8

/**
 * Whether the run has 40 hex digits without `0x`, and no hex digit beside them except those of words: common ones that are
 * glued to them, and any word with a letter that is no hex digit, such as the prefix of a network.
 */
export function holdsBareHex({ text, glued }: LetterRun): boolean {
  return text.matchAll(HEX_RUN).some(({ 0: run, index }) => {
    const end = index + run.length
    const ends = [index, ...glued, end]
    if (endsWord(text.slice(Math.max(0, index - 2), index)))
      for (let at = index; at < index + WORD_DIGITS_MAX && isLetter(text.charAt(at)); at++) ends.push(at + 1)
    if (isLetter(text.charAt(end)))
      for (let at = end; at > end - WORD_DIGITS_MAX && isLetter(text.charAt(at - 1)); at--) ends.push(at - 1)
    return ends.some((from) => from >= index && ends.includes(from + ADDRESS_DIGITS))
  })
}

/** Whether the two characters before a run end with a letter other than that of `0x`. */
function endsWord(before: string): boolean {
  return isLetter(before.slice(-1)) && !/^[0o]x$/i.test(before)
}

function isLetter(character: string): boolean {
  return /^[a-z]$/i.test(character)
}

/**
 * Whether the run has 40 hex digits in letters of both cases that pass the checksum of EIP-55. A run that needs more
 * checksums than the budget has counts as an address.
 */
export function holdsEip55({ text, edges }: LetterRun, budget: ProofBudget): boolean {
  for (const { 0: run, index } of text.matchAll(HEX_RUN)) {
    for (let from = 0; from + ADDRESS_DIGITS <= run.length; from++) {
      if (edges[index + from] === 0 || edges[index + from + ADDRESS_DIGITS] === 0) continue
      const digits = run.slice(from, from + ADDRESS_DIGITS)
      // Digits of one case have no checksum: most of them are digests.
      if (hasBothCases(digits) && ((budget.left -= EIP55_COST) < 0 || isEip55(digits))) return true
    }
  }
  return false
}

function hasBothCases(digits: string): boolean {
  return /[a-f]/.test(digits) && /[A-F]/.test(digits)
}

function isEip55(digits: string): boolean {
  const hash = keccak_256(new TextEncoder().encode(digits.toLowerCase())).toHex()
  return Array.from(digits).every((digit, at) => {
    const upper = Number.parseInt(hash.charAt(at), 16) >= 8
    return digit === (upper ? digit.toUpperCase() : digit.toLowerCase())
  })
}
