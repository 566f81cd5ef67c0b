import { keccak_256 } from '@noble/hashes/sha3.js'
import type { LetterRun, ProofBudget } from './letter-run.ts'

/** A run of 64 or more hex digits, which is a digest or a transaction and no address, without the 0 of an address in hex. */
const DIGEST = /[0-9a-f]{64,}(?<!0(?=x[0-9a-f]{40}))/gi
const DIGEST_DIGITS_MIN = 64
/** Digests have a multiple of so many digits. The other digits of a run may belong to a text beside the digest. */
const DIGEST_DIGITS_STEP = 32
const ADDRESS_DIGITS = 40
/** Cost of a checksum of EIP-55 in those of base58. */
const EIP55_COST = 4
const HEX_RUN = /[0-9a-f]{40,}/gi
// The letter O looks like the digit.
const PREFIXED_RUN = /[0O]x[0-9a-f]{40,}/gi

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
 * Whether `0x` and 40 hex digits are in the run, and no hex digit follows except those of a glued word such as "address".
 * Between joined groups, `0x` begins a group, and the digits may also end with one, because the next group may be a word.
 */
export function holdsPrefixedHex({ text, edges, glued }: LetterRun, isJoined: boolean): boolean {
  for (const { 0: run, index } of text.matchAll(PREFIXED_RUN)) {
    const digits = run.length - 2
    if (digits === ADDRESS_DIGITS && (!isJoined || edges[index] === 1)) return true
    if (glued.includes(index + 2 + ADDRESS_DIGITS)) return true
    const endsGroup = isJoined && edges[index] === 1 && edges[index + 2 + ADDRESS_DIGITS] === 1
    if (endsGroup && digits < DIGEST_DIGITS_MIN) return true
  }
  return false
}

/** Whether the run has 40 hex digits without `0x`, and no hex digit beside them except those of glued words. */
export function holdsBareHex({ text, glued }: LetterRun): boolean {
  return text.matchAll(HEX_RUN).some(({ 0: run, index }) => {
    const ends = [index, ...glued, index + run.length]
    return ends.some((from) => from >= index && ends.includes(from + ADDRESS_DIGITS))
  })
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
