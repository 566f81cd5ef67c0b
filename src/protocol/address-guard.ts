import { holdsBase32, holdsPrincipal } from './addresses/base32-search.ts'
import { holdsBase58 } from './addresses/base58-search.ts'
import { holdsBech32 } from './addresses/bech32-search.ts'
import { holdsCashaddr, holdsPrefixedCashaddr } from './addresses/cashaddr-search.ts'
import { joinedBase64, joinedBech32, joinedRuns, partRuns, wholeRuns } from './addresses/groups.ts'
import {
  holdsBareHex,
  holdsEip55,
  holdsPaddedHex,
  holdsPrefixedHex,
  withoutDigests,
} from './addresses/hex-search.ts'
import { holdsIcap } from './addresses/icap-search.ts'
import { holdsMonero, holdsTon } from './addresses/monero-search.ts'
import { readingsOf } from './addresses/readings.ts'
import type { LetterRun, ProofBudget } from './addresses/letter-run.ts'

/**
 * Place of a text, which decides how 40 hex digits count. They are an address in prose, such as a title. In a URL they
 * may be a commit. In a free transaction identifier they need `0x` or a checksum.
 */
export type TextPlace = 'prose' | 'url' | 'tx'

/** Characters of the shortest address, bech32 of two bytes. Most kinds are shorter. */
const CHARS_MIN = 14
/**
 * Base58 checksums that one reading of a text may cost. Prose of 500 characters needs fewer than 50. The worst text,
 * 100 single letters between blanks, needs up to 1,350.
 */
const PROOFS_MAX = 1_536
// The shortest bech32 address has 13 letters and digits in a row, which is rare in prose. TON may have fewer.
const LONG_WORD = /[0-9A-Za-z]{13}/

/**
 * Whether a text contains a wallet address (PROTOCOL.md, "The address guard"). Accepts any text and takes linear time.
 * A title, reason or URL is read in every way that people may read it; a transaction only as it is. A text with too
 * many layers of encoding counts as an address. So does a reading that needs more than `proofsMax` checksums.
 */
export function findsAddress(text: string, place: TextPlace, proofsMax: number = PROOFS_MAX): boolean {
  if (text.length < CHARS_MIN) return false
  if (place === 'tx') return holds(text, place, true, { left: proofsMax })
  const readings = readingsOf(text)
  if (readings === null) return true
  return readings.every.some((reading) =>
    holds(reading, place, readings.outer.includes(reading), { left: proofsMax }),
  )
}

/**
 * Whether a reading has an address as a word. An outer reading is also searched inside words and, in prose, between
 * groups.
 */
function holds(reading: string, place: TextPlace, isOuter: boolean, budget: ProofBudget): boolean {
  if (holdsPaddedHex(reading)) return true
  const text = withoutDigests(reading)
  if (holdsWhole(text, place, budget)) return true
  if (!isOuter) return false
  // Identifiers of transactions have hyphens and underscores of their own.
  return holdsPart(text, budget) || (place !== 'tx' && holdsJoined(text, budget))
}

function holdsWhole(text: string, place: TextPlace, budget: ProofBudget): boolean {
  if (holdsTon(text) || holdsPrincipal(text)) return true
  if (!LONG_WORD.test(text)) return false
  if (holdsBech32(text) || holdsPrefixedCashaddr(text)) return true
  const runs = wholeRuns(text)
  if (place === 'prose' && runs.some(holdsBareHex)) return true
  return runs.some((run) => holdsPrefixedHex(run) || holdsProof(run, place !== 'tx', budget))
}

function holdsPart(text: string, budget: ProofBudget): boolean {
  return LONG_WORD.test(text) && partRuns(text).some((run) => holdsProof(run, false, budget))
}

function holdsJoined(text: string, budget: ProofBudget): boolean {
  return (
    joinedRuns(text).some(
      (run) => holdsPaddedHex(run.text) || holdsPrefixedHex(run) || holdsProof(run, false, budget),
    ) ||
    joinedBech32(text).some(holdsBech32) ||
    joinedBase64(text).some(holdsTon)
  )
}

/** The searches whose proof is a checksum. */
function holdsProof(run: LetterRun, keys: boolean, budget: ProofBudget): boolean {
  return (
    holdsEip55(run, budget) ||
    holdsBase58(run, keys, budget) ||
    holdsMonero(run) ||
    holdsCashaddr(run) ||
    holdsBase32(run, budget) ||
    holdsIcap(run)
  )
}

/** Short promise about wallet addresses. README and the pages use these words. */
export const ADDRESS_PROMISE = 'Only totals are published, and wallet addresses in known forms are refused.'

/** Addresses that the guard finds. PROTOCOL.md and `/about` use these words. */
export const GUARD_HOLDS =
  'A draft or a query with a wallet address in a known form is refused: base58 that decodes to 32 bytes; 0x, xdc, hx or cx and 40 hex digits, also where 24 zeros make them 64; 40 hex digits in a title or a reason; and text whose checksum proves that it is an address of one of these forms: bech32, bech32m, Base58Check, EIP-55, Stellar, SS58, cashaddr, Algorand, Filecoin, TON, XRP, ICAP, Cardano Byron, Monero, nano, Stacks, Kaspa, Conflux, Waves, Ergo, Decred, or a person’s principal of the Internet Computer. The guard reads a text as people do: it undoes percent-encoding and HTML entities, folds look-alike letters, drops invisible characters, and splits off words that are glued to an address. It also takes out blanks, hyphens and dots between groups, and refuses the result where a prefix such as 0x begins it or a checksum proves it.'

/** Addresses that the guard cannot find, in the same places. */
export const GUARD_LIMITS =
  'No guard can know a name that is registered for an address, or an address that is spelt in words, shown in a picture or found behind a link. An address of another form passes. So does base58 of 32 bytes in groups, inside a longer word or in letters of one case, because no checksum proves it. 64 or more hex digits, in one run or in groups, are a digest and no address, unless 24 of them are zeros that pad one. On an opaque chain, a tx is refused only if such a prefix and 40 hex digits, or a checksum, prove an address in it.'
