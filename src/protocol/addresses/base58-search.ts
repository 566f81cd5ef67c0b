import { blake2b } from '@noble/hashes/blake2.js'
import { sha256 } from '@noble/hashes/sha2.js'
import type { GrowingNumber } from './base58-number.ts'
import { openNumber } from './base58-number.ts'
import { isByron } from './byron.ts'
import type { Digits, LetterRun, ProofBudget } from './letter-run.ts'
import { digitAt, alphabetDigits, hasOneCase } from './letter-run.ts'

export const BASE58: Digits = alphabetDigits('123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz')
const BASE58_XRP: Digits = alphabetDigits('rpshnaf39wBUDNEGHJKLM4PQRST7VWXYZ2bcdeCg65jkm8oFqi1tuvAxyz')

/** Bytes of an Ed25519 public key, which is an address on Solana and similar chains. */
const KEY_BYTES = 32
const CHECKSUM_BYTES = 4
/** Characters of the shortest candidate: a version, 16 bytes and a checksum. */
const BASE58_CHARS_MIN = 25
/** Characters of the longest candidate: an extended key has 111, a Byron address up to 114. */
const BASE58_CHARS_MAX = 128
/** Characters of a version of up to three bytes, a hash of 20 bytes and a checksum. */
const HASH_CHARS_MAX = 37
/** Characters of a private key with its checksum, longer than SS58 and an X-address. */
const JOINED_CHARS_MAX = 53

/**
 * First bytes of well-known Base58Check addresses, by their length: Bitcoin, Litecoin, Dogecoin, Dash, TRON, Neo, Qtum,
 * Bitcoin Gold, Ravencoin, Komodo, PIVX, Vertcoin, Namecoin, Peercoin, Reddcoin, Blackcoin, Firo, Liquid, Zcash, Horizen
 * and Tezos. Inside a longer word only these are tried, so that a character costs about one hash.
 */
const KNOWN_VERSIONS: ReadonlyMap<number, ReadonlySet<number>> = new Map([
  [
    25,
    new Set([
      0x00, 0x05, 0x07, 0x0d, 0x10, 0x13, 0x16, 0x17, 0x19, 0x1e, 0x21, 0x24, 0x26, 0x27, 0x30, 0x32, 0x33,
      0x34, 0x35, 0x37, 0x39, 0x3a, 0x3c, 0x3d, 0x3f, 0x41, 0x47, 0x4c, 0x52, 0x55, 0x6f, 0x71, 0x75, 0x78,
      0x7a, 0x8c, 0xa0, 0xc4,
    ]),
  ],
  [26, new Set([0x1cb8, 0x1cba, 0x1cbd, 0x1d25, 0x2089, 0x2096])],
  [27, new Set([0x025a79, 0x06a19f, 0x06a1a1, 0x06a1a4, 0x06a1a6])],
])
/** First two bytes of long Base58Check addresses, by their length: confidential ones of Liquid, and Sprout of Zcash. */
const LONG_VERSIONS: ReadonlyMap<number, ReadonlySet<number>> = new Map([
  [59, new Set([0x0c27, 0x0c39])],
  [70, new Set([0x169a])],
])
/** First bytes of private keys of Bitcoin, Litecoin, Dogecoin and Dash, which have 37 or 38 bytes. */
const PRIVATE_KEYS: ReadonlySet<number> = new Set([0x80, 0xef, 0xb0, 0x9e, 0xcc])
const HASH_BYTES = 20
/** Bytes of an extended key (BIP 32) with its checksum. */
const EXTENDED_KEY_BYTES = 82
/** First bytes of X-addresses of the XRP ledger, on its main and its test network. */
const X_VERSIONS: ReadonlySet<number> = new Set([0x0544, 0x0493])
const X_BYTES = 35
/** First characters of long addresses and of extended keys. Elsewhere a candidate is searched in fewer characters. */
const LONG_STARTS = /^(?:Ae2|Ddz|37bt|2cW|V[JT]|zc|[t-zTUVYZ]p(?:ub|rv))/
/** Longer candidates than this are tried only after these characters. */
const LONG_BYTES_MIN = 40

/** Places in which a candidate may lie: a whole word, groups that were joined, or any part of a longer word. */
export type Base58Fit = 'whole' | 'joined' | 'part'

/**
 * Whether the run has a base58 address with a checksum: Base58Check, XRP, SS58, Cardano Byron; `keys`: or 32 bytes. A run
 * that needs more checksums than the budget has counts as an address.
 */
export function holdsBase58(run: LetterRun, fit: Base58Fit, keys: boolean, budget: ProofBudget): boolean {
  const endsInChecksum = (number: GrowingNumber): boolean =>
    budget.left-- <= 0 || isBase58Check(number.bytes())
  return (
    search(run, BASE58, fit, (number, from, to) => {
      const text = run.text.slice(from, to)
      if (keys && number.length() === KEY_BYTES && isKey(text)) return true
      // A list of numbers costs no checksum: an address has 25 characters or more, and never digits alone.
      if (!/[A-Za-z]/.test(text)) return false
      if (fitsVersion(number, fit) && endsInChecksum(number)) return true
      if (hasByronHead(number)) return isByron(number.bytes())
      return run.trusts(from, to, SS58_BITS) && hasSs58Form(number) && (budget.left-- <= 0 || isSs58(number))
    }) ||
    search(
      run,
      BASE58_XRP,
      fit,
      (number, from) => hasXrpForm(number, run.text.charAt(from)) && endsInChecksum(number),
    )
  )
}

/**
 * Whether base58 of 32 bytes may be a key. Base32, base36 and hex of one case are more likely where all letters have one
 * case, except in the addresses of programmes, which have many ones.
 */
function isKey(text: string): boolean {
  return !hasOneCase(text) || text.includes('11111111')
}

type Proves = (number: GrowingNumber, from: number, to: number) => boolean

/** Decodes every candidate. One pass for each beginning: a number grows by one digit a step. */
function search({ text, edges }: LetterRun, digits: Digits, fit: Base58Fit, proves: Proves): boolean {
  const number = openNumber()
  for (let from = 0; from + BASE58_CHARS_MIN <= text.length; from++) {
    if (edges[from] === 0 || (digits === BASE58_XRP && !'rXTs'.includes(text.charAt(from)))) continue
    const end = Math.min(text.length, from + charsMax(text, from, fit))
    number.clear()
    for (let to = from; to < end;) {
      const digit = digitAt(digits, text, to)
      if (digit < 0) break
      number.push(digit)
      to++
      if (edges[to] === 0 || to - from < BASE58_CHARS_MIN) continue
      if (fits(number.length(), fit) && proves(number, from, to)) return true
    }
  }
  return false
}

function charsMax(text: string, from: number, fit: Base58Fit): number {
  if (fit === 'whole' || LONG_STARTS.test(text.slice(from, from + 4))) return BASE58_CHARS_MAX
  return fit === 'joined' || 'XT'.includes(text.charAt(from)) ? JOINED_CHARS_MAX : HASH_CHARS_MAX
}

/** Whether so many bytes may be an address. Inside a longer word and between groups, only common lengths are. */
function fits(length: number, fit: Base58Fit): boolean {
  if (fit === 'whole' || length > LONG_BYTES_MIN) return length >= 20
  return (length >= 25 && length <= 27) || (length >= 35 && length <= 38)
}

/** Whether the version may be that of an address. As a whole word or as whole groups, any network is tried. */
function fitsVersion(number: GrowingNumber, fit: Base58Fit): boolean {
  const length = number.length()
  if (fit === 'whole' || length === EXTENDED_KEY_BYTES) return true
  if (length > LONG_BYTES_MIN) return LONG_VERSIONS.get(length)?.has(number.head(2)) === true
  const width = length - HASH_BYTES - CHECKSUM_BYTES
  if (width <= 3) return fit === 'joined' || KNOWN_VERSIONS.get(length)?.has(number.head(width)) === true
  return length >= 37 && PRIVATE_KEYS.has(number.head(1))
}

/** Base58Check: the last four bytes are the first four of the double SHA-256 of the rest. */
function isBase58Check(bytes: Uint8Array): boolean {
  const digest = sha256(sha256(bytes.subarray(0, -CHECKSUM_BYTES)))
  return bytes.subarray(-CHECKSUM_BYTES).every((byte, at) => byte === digest[at])
}

/** Form of an address of the XRP ledger, which begins with r, an X-address, or a seed of one, which begins with s. */
function hasXrpForm(number: GrowingNumber, first: string): boolean {
  const length = number.length()
  const isClassic = first === 'r' && length === 25
  const isSeed = first === 's' && (length === 21 || length === 23)
  const isX = length === X_BYTES && X_VERSIONS.has(number.head(2))
  return isClassic || isSeed || isX
}

const SS58_BITS = 16
const SS58_PREFIX = new TextEncoder().encode('SS58PRE')

/** SS58 of Polkadot: one or two bytes of network, 32 of account, two of BLAKE2b. */
function hasSs58Form(number: GrowingNumber): boolean {
  const network = number.head(1)
  const isShort = number.length() === 35 && network < 64
  return isShort || (number.length() === 36 && network >= 64 && network < 128)
}

function isSs58(number: GrowingNumber): boolean {
  const bytes = number.bytes()
  const digest = blake2b.create({ dkLen: 64 }).update(SS58_PREFIX).update(bytes.subarray(0, -2)).digest()
  return digest[0] === bytes.at(-2) && digest[1] === bytes.at(-1)
}

/** The first bytes of a Byron address: a CBOR array of two, whose first element is bytes with tag 24. */
const BYRON_HEAD = 0x82d81858

function hasByronHead(number: GrowingNumber): boolean {
  return number.length() > LONG_BYTES_MIN && number.head(4) === BYRON_HEAD
}
