import { keccak_256 } from '@noble/hashes/sha3.js'
import type { LetterRun, ProofBudget } from './letter-run.ts'

/**
 * Run of 64 or more hex digits: a digest or a transaction, not an address. Excludes the first character of a prefix
 * that follows it.
 */
const DIGEST = /[0-9a-f]{64,}(?<![0c](?=x[0-9a-f]{40}))/gi
const DIGEST_DIGITS_MIN = 64
/** Digits of which a digest's length is a multiple. Other digits of a run may belong to text beside the digest. */
const DIGEST_DIGITS_STEP = 32
const ADDRESS_DIGITS = 40
/** Cost of an EIP-55 checksum, counted in base58 checksums. */
const EIP55_COST = 4
const HEX_RUN = /[0-9a-f]{40,}/gi
/** A prefix and its digits: `0x`, `xdc` of XDC, `hx` and `cx` of ICON. The letter O looks like the digit. */
const PREFIXED_RUN = /([0Och]x|xdc)([0-9a-f]{40,})/gi

/**
 * Digits with which a contract pads an address to a word of 32 bytes, before or after it. No digest has them by chance.
 */
const PADDING = '0'.repeat(24)
const PADDED = /(?=0{24}([0-9a-f]{40})|([0-9a-f]{40})0{24})/gi
/** Least non-zero digits of a padded address. Amounts have fewer, because none needs more than 80 bits. */
const ADDRESS_DIGITS_SET_MIN = 21

/**
 * Whether the text has an address padded to 64 hex digits, as in contracts and their logs. 24 digits at one end are
 * zeros, and the others are not like a number.
 */
export function holdsPaddedHex(text: string): boolean {
  if (!text.includes(PADDING)) return false
  return text.matchAll(PADDED).some(({ 1: after, 2: before }) => isAddressWord(after ?? before ?? ''))
}

function isAddressWord(digits: string): boolean {
  return /[a-f]/i.test(digits) && digits.replaceAll('0', '').length >= ADDRESS_DIGITS_SET_MIN
}

/**
 * Replaces runs of 64 or more hex digits by a character that joins no groups. About one digest in sixty has a base58 run
 * of 32 bytes inside. Keeps hex digits at an end that may belong to an address beside the digest, such as `bc1`.
 */
export function withoutDigests(text: string): string {
  return text.replace(DIGEST, (run) => {
    const rest = run.length % DIGEST_DIGITS_STEP
    return `${run.slice(0, rest)}|${run.slice(run.length - rest)}`
  })
}

/**
 * Whether the run has a prefix such as `0x` and then exactly 40 hex digits. Hex digits of a glued word such as
 * "address" may follow. Between joined groups, the prefix must begin a group. The digits may end with a group, because
 * the next one may be a word.
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
 * Whether the run has exactly 40 hex digits without `0x`. Hex digits of words may be beside them: of common words, and
 * of any word with another letter, such as the prefix of a network.
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
 * Whether the run has 40 hex digits of mixed case that pass the EIP-55 checksum. A run that exceeds the budget of
 * checksums counts as an address.
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
