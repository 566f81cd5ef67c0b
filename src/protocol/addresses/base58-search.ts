import { blake256 } from '@noble/hashes/blake1.js'
import { blake2b } from '@noble/hashes/blake2.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { keccak_256 } from '@noble/hashes/sha3.js'
import {
  alphabetDigits,
  digitAt,
  type Digits,
  type Fit,
  hasOneCase,
  isEven,
  type LetterRun,
  type ProofBudget,
} from './letter-run.ts'
import { crc32 } from './crc.ts'

const LIMB_BYTES = 3
const LIMB_BITS = 24
/** Limbs of 128 digits. */
const LIMBS_MAX = 32

/** Base58 number that grows by one digit at a time. Each leading zero is a byte of its own. */
type GrowingNumber = Readonly<{
  clear(): void
  push(digit: number): void
  /** Bytes of the number. */
  length(): number
  /** Value of the first bytes, at most six. */
  head(count: number): number
  bytes(): Uint8Array
}>

/** Opens a number for 128 digits at most. */
function openNumber(): GrowingNumber {
  // Lowest limb first.
  const limbs = new Int32Array(LIMBS_MAX)
  let used = 0
  let zeros = 0

  const length = () => {
    if (used === 0) return zeros
    const top = limbs[used - 1] ?? 0
    return zeros + (used - 1) * LIMB_BYTES + (top > 0xffff ? 3 : top > 0xff ? 2 : 1)
  }
  const byteAt = (at: number, size: number) => {
    const place = size - 1 - at
    return ((limbs[(place / LIMB_BYTES) | 0] ?? 0) >> ((place % LIMB_BYTES) * 8)) & 255
  }
  return {
    clear() {
      used = 0
      zeros = 0
    },
    push(digit) {
      if (used === 0 && digit === 0) {
        zeros++
        return
      }
      let carry = digit
      for (let at = 0; at < used; at++) {
        const next = (limbs[at] ?? 0) * 58 + carry
        limbs[at] = next & 0xffffff
        carry = next >>> LIMB_BITS
      }
      if (carry > 0) limbs[used++] = carry
    },
    length,
    head(count) {
      const size = length()
      let value = 0
      for (let at = 0; at < count; at++) value = value * 256 + (at < zeros ? 0 : byteAt(at, size))
      return value
    },
    bytes() {
      const size = length()
      const bytes = new Uint8Array(size)
      for (let at = zeros; at < size; at++) bytes[at] = byteAt(at, size)
      return bytes
    },
  }
}

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
/** Characters of `LONG_BYTES_MIN` bytes. */
const JOINED_CHARS_MAX = 55

/**
 * First bytes of well-known Base58Check addresses, by length. Only these are tried inside a longer word, so that a
 * character costs about one hash. The chains are Bitcoin, Litecoin, Dogecoin, Dash, TRON, Neo, Qtum, Bitcoin Gold,
 * Ravencoin, Komodo, PIVX, Vertcoin, Namecoin, Peercoin, Reddcoin, Blackcoin, Firo, Liquid, Zcash, Horizen and Tezos.
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
/** First two bytes of long Base58Check addresses, by length: confidential addresses of Liquid, and Sprout of Zcash. */
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
/** First characters of long addresses and of extended keys. Other candidates are searched up to fewer characters. */
const LONG_STARTS = /^(?:Ae2|Ddz|37bt|2cW|V[JT]|zc|[t-zTUVYZ]p(?:ub|rv))/
/** Length in bytes from which a candidate in groups or inside a word needs a known version. */
const LONG_BYTES_MIN = 40

type Digest = (bytes: Uint8Array) => Uint8Array
const doubleSha256: Digest = (bytes) => sha256(sha256(bytes))
const blake2b256: Digest = (bytes) => blake2b(bytes, { dkLen: 32 })
/** Addresses with a checksum of another digest, by length and first bytes. */
const OTHER_DIGESTS: readonly Readonly<{ length: number; head: ReadonlySet<number>; digest: Digest }>[] = [
  // Waves, main and test network.
  { length: 26, head: new Set([0x0157, 0x0154]), digest: (bytes) => keccak_256(blake2b256(bytes)) },
  // Decred: hashes of keys and of scripts, on the main and the test network.
  {
    length: 26,
    head: new Set([0x073f, 0x071f, 0x0701, 0x071a, 0x0f21, 0x0f01, 0x0ee3, 0x0efc]),
    digest: (bytes) => blake256(blake256(bytes)),
  },
  // Ergo: a public key, which begins with 2 or 3, on the main and the test network.
  { length: 38, head: new Set([0x0102, 0x0103, 0x1102, 0x1103]), digest: blake2b256 },
]

/**
 * Whether the run has a base58 address with a checksum: Base58Check, Waves, Decred, Ergo, XRP, SS58 or Cardano Byron.
 * With `keys`, 32 bytes count too. A run that exceeds the budget of checksums counts as an address.
 */
export function holdsBase58(run: LetterRun, keys: boolean, budget: ProofBudget): boolean {
  const { fit } = run
  const endsInChecksum = (number: GrowingNumber, digest: Digest = doubleSha256): boolean =>
    budget.left-- <= 0 || endsIn(digest, number.bytes())
  const endsInOther = (number: GrowingNumber): boolean =>
    OTHER_DIGESTS.some(
      ({ length, head, digest }) =>
        number.length() === length && head.has(number.head(2)) && endsInChecksum(number, digest),
    )
  return (
    search(run, BASE58, (number, from, to) => {
      const text = run.text.slice(from, to)
      if (keys && number.length() === KEY_BYTES && isKey(text)) return true
      // Skips lists of numbers without computing a checksum: an address never consists of digits alone.
      if (!/[A-Za-z]/.test(text)) return false
      if ((fitsVersion(number, fit, text) && endsInChecksum(number)) || endsInOther(number)) return true
      if (hasByronHead(number)) return isByron(number.bytes())
      return run.trusts(from, to) && hasSs58Form(number) && (budget.left-- <= 0 || isSs58(number))
    }) ||
    search(
      run,
      BASE58_XRP,
      (number, from) => hasXrpForm(number, run.text.charAt(from)) && endsInChecksum(number),
    )
  )
}

/**
 * Whether base58 of 32 bytes may be a key. Letters of one case are more likely base32, base36 or hex. Addresses of
 * programs are the exception: they have many ones.
 */
function isKey(text: string): boolean {
  return !hasOneCase(text) || text.includes('11111111')
}

type Proves = (number: GrowingNumber, from: number, to: number) => boolean

/** Decodes every candidate. Each start takes one pass, in which a number grows by one digit a step. */
function search({ text, edges, fit }: LetterRun, digits: Digits, proves: Proves): boolean {
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

function charsMax(text: string, from: number, fit: Fit): number {
  if (fit === 'whole' || LONG_STARTS.test(text.slice(from, from + 4))) return BASE58_CHARS_MAX
  return fit === 'joined' || '39XT'.includes(text.charAt(from)) ? JOINED_CHARS_MAX : HASH_CHARS_MAX
}

/** Whether a number of bytes may be an address. Only common lengths count inside a longer word. */
function fits(length: number, fit: Fit): boolean {
  if (fit !== 'part' || length > LONG_BYTES_MIN) return length >= 20
  return (length >= 25 && length <= 27) || (length >= 35 && length <= 38)
}

/**
 * Whether the version may be that of an address. A whole word is tried for any network. Joined groups are tried for any
 * network with a hash of 20 bytes; longer ones only if their characters are unlike those of words.
 */
function fitsVersion(number: GrowingNumber, fit: Fit, text: string): boolean {
  const length = number.length()
  if (fit === 'whole' || length === EXTENDED_KEY_BYTES) return true
  if (length > LONG_BYTES_MIN) return LONG_VERSIONS.get(length)?.has(number.head(2)) === true
  const width = length - HASH_BYTES - CHECKSUM_BYTES
  if (fit === 'joined') return width >= 1 && (width <= 3 || isEven(text))
  if (width <= 3) return KNOWN_VERSIONS.get(length)?.has(number.head(width)) === true
  return length >= 37 && PRIVATE_KEYS.has(number.head(1))
}

/** Whether the last four bytes are the first four of the digest of the rest. Base58Check uses the double SHA-256. */
function endsIn(digest: Digest, bytes: Uint8Array): boolean {
  const wanted = digest(bytes.subarray(0, -CHECKSUM_BYTES))
  return bytes.subarray(-CHECKSUM_BYTES).every((byte, at) => byte === wanted[at])
}

/** Form of an XRP address, which begins with r, an X-address, or a seed, which begins with s. */
function hasXrpForm(number: GrowingNumber, first: string): boolean {
  const length = number.length()
  const isClassic = first === 'r' && length === 25
  const isSeed = first === 's' && (length === 21 || length === 23)
  const isX = length === X_BYTES && X_VERSIONS.has(number.head(2))
  return isClassic || isSeed || isX
}

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

/** First bytes of a Byron address: a CBOR array of two elements, the first of which is bytes with tag 24. */
const BYRON_HEAD = 0x82d81858

function hasByronHead(number: GrowingNumber): boolean {
  return number.length() > LONG_BYTES_MIN && number.head(4) === BYRON_HEAD
}

/** CBOR head of the CRC-32, an integer of four bytes. */
const CRC_HEAD = 0x1a

/**
 * Whether the rest of the bytes is a Cardano Byron address: CBOR of its payload and the CRC-32 of the payload. The
 * fifth byte is the length of the payload.
 */
function isByron(bytes: Uint8Array): boolean {
  const end = 5 + (bytes[4] ?? 0)
  if (bytes.length !== end + 5 || bytes[end] !== CRC_HEAD) return false
  const written = bytes.subarray(end + 1).reduce((sum, byte) => sum * 256 + byte, 0)
  return crc32(bytes.subarray(5, end)) === written
}
