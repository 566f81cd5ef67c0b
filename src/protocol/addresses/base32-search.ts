import { blake2b } from '@noble/hashes/blake2.js'
import { sha256, sha512_256 } from '@noble/hashes/sha2.js'
import { crc16, crc32 } from './crc.ts'
import {
  caselessDigits,
  digitAt,
  type Digits,
  hasOneCase,
  type LetterRun,
  type ProofBudget,
  runEnd,
} from './letter-run.ts'

/** RFC 4648. */
const BASE32: Digits = caselessDigits('abcdefghijklmnopqrstuvwxyz234567')
const BASE32_NANO: Digits = caselessDigits('13456789abcdefghijkmnopqrstuwxyz')
/** Alphabet of Crockford, in which the letters o, i and l are digits. */
const BASE32_STACKS: Digits = caselessDigits('0123456789abcdefghjkmnpqrstvwxyz')

/** Characters of a Stellar string with 32 bytes, and with eight more bytes for a number. */
const KEY_CHARS = 56
const MULTIPLEXED_CHARS = 69
/** Characters of Stellar strings by the first one, which is the high part of the version byte. */
const STELLAR_CHARS: ReadonlyMap<string, number> = new Map([
  ['G', KEY_CHARS], // account
  ['C', KEY_CHARS], // contract
  ['S', KEY_CHARS], // secret seed
  ['T', KEY_CHARS], // pre-authorised transaction
  ['X', KEY_CHARS], // hash
  ['M', MULTIPLEXED_CHARS], // multiplexed account
])
const ALGORAND_CHARS = 58
const ALGORAND_KEY_BYTES = 32
/** Unused bits of the last character of an Algorand address. They are zero. */
const ALGORAND_SPARE = 0b11

/**
 * Whether the run has a base32 address with a checksum: Stellar, Algorand, Filecoin, nano, Stacks or Internet Computer.
 * A run that exceeds the budget of checksums counts as an address.
 */
export function holdsBase32(run: LetterRun, budget: ProofBudget): boolean {
  const { text, edges } = run
  let [end, nanoEnd] = [-1, -1]
  for (let from = 0; from < text.length; from++) {
    if (edges[from] === 0) continue
    if (from >= end) end = runEnd(BASE32, text, from)
    if (from >= nanoEnd) nanoEnd = runEnd(BASE32_NANO, text, from)
    if (isStellar(run, from, end) || isAlgorand(run, from, end) || isPrincipal(run, from, end)) return true
    if (isNano(run, from, nanoEnd) || isFilecoin(run, from, budget) || isStacks(run, from, budget))
      return true
  }
  return false
}

// The checksum has only 16 bits. Ordinary words seldom have this length, one case and the first two letters together.
function isStellar({ text, edges }: LetterRun, from: number, end: number): boolean {
  const chars = STELLAR_CHARS.get(text.charAt(from).toUpperCase())
  // The low part of the version byte is zero.
  if (chars === undefined || digitAt(BASE32, text, from + 1) > 3) return false
  const to = from + chars
  if (to > end || edges[to] === 0) return false
  const bytes = decode(BASE32, text, from, to)
  const crc = crc16(bytes.subarray(0, -2))
  const isProved = bytes.at(-2) === (crc & 255) && bytes.at(-1) === crc >> 8
  return isProved && hasOneCase(text.slice(from, to))
}

function isAlgorand({ text, edges }: LetterRun, from: number, end: number): boolean {
  const to = from + ALGORAND_CHARS
  if (to > end || edges[to] === 0 || (digitAt(BASE32, text, to - 1) & ALGORAND_SPARE) !== 0) return false
  if (!hasOneCase(text.slice(from, to))) return false
  const bytes = decode(BASE32, text, from, to)
  const digest = sha512_256(bytes.subarray(0, ALGORAND_KEY_BYTES)).subarray(-4)
  return digest.every((byte, at) => byte === bytes[ALGORAND_KEY_BYTES + at])
}

/** Network, protocol, and then base32. Protocol 4 also has the number of the actor that manages the address. */
const FILECOIN = /[ft](?:([123])|4(\d{1,19})f)(?=[a-z2-7]{12})/iy
/** Characters after the head by protocol: 20 or 48 bytes, and a checksum of four. */
const FILECOIN_CHARS: Readonly<Record<string, number>> = { 1: 39, 2: 39, 3: 84 }
/** Least characters after the head of protocol 4: a name of up to 54 bytes and a checksum. */
const NAME_CHARS_MIN = 12
const NAME_CHARS_MAX = 94
const FILECOIN_CHECKSUM_BYTES = 4

function isFilecoin({ text, edges }: LetterRun, from: number, budget: ProofBudget): boolean {
  FILECOIN.lastIndex = from
  const match = FILECOIN.exec(text)
  if (match === null) return false
  const [head, protocol = '4', actor = ''] = match
  const body = from + head.length
  const end = runEnd(BASE32, text, body)
  const prefix = protocol === '4' ? [4, ...leb128(BigInt(actor))] : [Number(protocol)]
  const { [protocol]: chars } = FILECOIN_CHARS
  // A name may be of any length, so each edge may be its end.
  const first = body + (chars ?? NAME_CHARS_MIN)
  const last = Math.min(end, body + (chars ?? NAME_CHARS_MAX))
  for (let to = first; to <= last; to++) {
    if (edges[to] === 0 || !hasOneCase(text.slice(from, to))) continue
    if (budget.left-- <= 0 || endsInBlake(prefix, decode(BASE32, text, body, to))) return true
  }
  return false
}

/** Whether the last four bytes are the BLAKE2b digest of the prefix and the other bytes. */
function endsInBlake(prefix: readonly number[], bytes: Uint8Array): boolean {
  const payload = bytes.subarray(0, -FILECOIN_CHECKSUM_BYTES)
  const digest = blake2b(Uint8Array.from([...prefix, ...payload]), { dkLen: FILECOIN_CHECKSUM_BYTES })
  return digest.every((byte, at) => byte === bytes[payload.length + at])
}

function leb128(value: bigint): readonly number[] {
  return value < 128n ? [Number(value)] : [Number(value & 127n) | 128, ...leb128(value >> 7n)]
}

/**
 * Characters of an Internet Computer principal: a checksum of four bytes, and 29 bytes that identify a person's key.
 */
const PRINCIPAL_CHARS = 53
const PRINCIPAL_CHECKSUM_BYTES = 4
/** The last byte of a principal that is the hash of a key. */
const SELF_AUTHENTICATING = 2
/** A principal as it is written, in groups of five. */
const PRINCIPAL = /(?<![0-9a-z])(?:[a-z2-7]{5}-){10}[a-z2-7]{3}(?![0-9a-z])/gi

/** Whether the text has a person's principal in its usual form. Principals of programs are also names of web sites. */
export function holdsPrincipal(text: string): boolean {
  return text.matchAll(PRINCIPAL).some(([written]) => endsInPrincipal(written.replaceAll('-', '')))
}

function isPrincipal({ text, edges }: LetterRun, from: number, end: number): boolean {
  const to = from + PRINCIPAL_CHARS
  return to <= end && edges[to] === 1 && endsInPrincipal(text.slice(from, to))
}

function endsInPrincipal(text: string): boolean {
  const bytes = decode(BASE32, text, 0, text.length)
  if (bytes.at(-1) !== SELF_AUTHENTICATING || !hasOneCase(text)) return false
  const written = new DataView(bytes.buffer).getUint32(0)
  return crc32(bytes.subarray(PRINCIPAL_CHECKSUM_BYTES)) === written
}

/** Characters of a nano address after its prefix: four zero bits, a key of 32 bytes, and a checksum of five. */
const NANO_CHARS = 60
const NANO_SPARE_BITS = 4
const NANO_KEY_BYTES = 32

function isNano({ text, edges }: LetterRun, from: number, end: number): boolean {
  const to = from + NANO_CHARS
  if (to > end || edges[to] === 0 || digitAt(BASE32_NANO, text, from) > 1) return false
  if (!hasOneCase(text.slice(from, to))) return false
  const bytes = decode(BASE32_NANO, text, from, to, NANO_SPARE_BITS)
  const digest = blake2b(bytes.subarray(0, NANO_KEY_BYTES), { dkLen: 5 }).toReversed()
  return digest.every((byte, at) => byte === bytes[NANO_KEY_BYTES + at])
}

/** The letter S, and the version: keys and scripts of the main and the test network. */
const STACKS = /S[PMTN](?=[0-9a-z]{36})/iy
/** Characters after them, of a hash of 20 bytes and a checksum of four. Leading zeros make the number shorter. */
const STACKS_CHARS = [36, 37, 38, 39] as const
const STACKS_BITS = 192
const STACKS_HASH_BYTES = 20

function isStacks({ text, edges }: LetterRun, from: number, budget: ProofBudget): boolean {
  STACKS.lastIndex = from
  if (!STACKS.test(text)) return false
  const body = from + 2
  // People may write the letters that look like a digit.
  const plain = text.slice(body, body + Math.max(...STACKS_CHARS)).replaceAll(/[il]/gi, '1')
  const digits = plain.replaceAll(/o/gi, '0')
  const version = digitAt(BASE32_STACKS, text, from + 1)
  const end = body + runEnd(BASE32_STACKS, digits, 0)
  return STACKS_CHARS.some((chars) => {
    if (body + chars > end || edges[body + chars] === 0) return false
    if (!hasOneCase(text.slice(from, body + chars))) return false
    const bytes = decode(BASE32_STACKS, digits, 0, chars, chars * 5 - STACKS_BITS)
    const hashed = Uint8Array.from([version, ...bytes.subarray(0, STACKS_HASH_BYTES)])
    const digest = sha256(sha256(hashed)).subarray(0, 4)
    return budget.left-- <= 0 || digest.every((byte, at) => byte === bytes[STACKS_HASH_BYTES + at])
  })
}

/**
 * Decodes whole bytes. Skips `spare` bits before the first byte; a negative `spare` adds zero bits. Drops bits that are
 * left over at the end.
 */
function decode(
  digits: Digits,
  text: string,
  from: number,
  to: number,
  spare: number = 0,
): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(Math.floor(((to - from) * 5 - spare) / 8))
  let bits = -spare
  let held = 0
  let length = 0
  for (let at = from; at < to; at++) {
    held = ((held << 5) | digitAt(digits, text, at)) & 0xfffff
    bits += 5
    for (; bits >= 8; bits -= 8) bytes[length++] = held >> (bits - 8)
  }
  return bytes
}
