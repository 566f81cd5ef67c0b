import { blake2b } from '@noble/hashes/blake2.js'
import { sha512_256 } from '@noble/hashes/sha2.js'
import { crc16 } from './crc16.ts'
import type { Digits, LetterRun, ProofBudget } from './letter-run.ts'
import { digitAt, alphabetDigits, hasOneCase, runEnd } from './letter-run.ts'

/** RFC 4648, in capitals and in small letters. */
const BASE32: Digits = alphabetDigits('ABCDEFGHIJKLMNOPQRSTUVWXYZ234567').map((digit, code) =>
  code >= 97 && code <= 122 ? code - 97 : digit,
)

/** Bits of the checksum, and those of the version byte that are always zero. */
const STELLAR_BITS = 19
/** Characters of a Stellar string of 32 bytes, and of one with a further number of eight bytes. */
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
/** Bits that the last character of an Algorand address does not use, and which are zero. */
const ALGORAND_SPARE = 0b11

/**
 * Whether the run has an address in base32 with a checksum: Stellar, Algorand or Filecoin. A run that needs more checksums
 * than the budget has counts as an address.
 */
export function holdsBase32(run: LetterRun, budget: ProofBudget): boolean {
  const { text, edges } = run
  let end = -1
  for (let from = 0; from < text.length; from++) {
    if (edges[from] === 0) continue
    if (from >= end) end = runEnd(BASE32, text, from)
    if (isStellar(run, from, end) || isAlgorand(run, from, end) || isFilecoin(run, from, budget)) return true
  }
  return false
}

function isStellar({ text, edges, trusts }: LetterRun, from: number, end: number): boolean {
  const chars = STELLAR_CHARS.get(text.charAt(from).toUpperCase())
  // The low part of the version byte is zero.
  if (chars === undefined || digitAt(BASE32, text, from + 1) > 3) return false
  const to = from + chars
  if (to > end || edges[to] === 0 || !trusts(from, to, STELLAR_BITS)) return false
  const bytes = decode(text, from, to)
  const crc = crc16(bytes.subarray(0, -2))
  const isProved = bytes.at(-2) === (crc & 255) && bytes.at(-1) === crc >> 8
  return isProved && hasOneCase(text.slice(from, to))
}

function isAlgorand({ text, edges }: LetterRun, from: number, end: number): boolean {
  const to = from + ALGORAND_CHARS
  if (to > end || edges[to] === 0 || (digitAt(BASE32, text, to - 1) & ALGORAND_SPARE) !== 0) return false
  if (!hasOneCase(text.slice(from, to))) return false
  const bytes = decode(text, from, to)
  const digest = sha512_256(bytes.subarray(0, ALGORAND_KEY_BYTES)).subarray(-4)
  return digest.every((byte, at) => byte === bytes[ALGORAND_KEY_BYTES + at])
}

/** Network, protocol, and for protocol 4 the number of the actor that manages the address, then base32. */
const FILECOIN = /[ft](?:([123])|4(\d{1,19})f)(?=[a-z2-7]{12})/iy
/** Characters after the head by protocol, of 20 or 48 bytes and a checksum of four. */
const FILECOIN_CHARS: Readonly<Record<string, number>> = { 1: 39, 2: 39, 3: 84 }
/** Characters after the head of protocol 4, of a name of up to 54 bytes and a checksum. */
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
    if (budget.left-- <= 0 || endsInBlake(prefix, decode(text, body, to))) return true
  }
  return false
}

/** Whether the last four bytes are the BLAKE2b of the prefix and the other bytes. */
function endsInBlake(prefix: readonly number[], bytes: Uint8Array): boolean {
  const payload = bytes.subarray(0, -FILECOIN_CHECKSUM_BYTES)
  const digest = blake2b(Uint8Array.from([...prefix, ...payload]), { dkLen: FILECOIN_CHECKSUM_BYTES })
  return digest.every((byte, at) => byte === bytes[payload.length + at])
}

function leb128(value: bigint): readonly number[] {
  return value < 128n ? [Number(value)] : [Number(value & 127n) | 128, ...leb128(value >> 7n)]
}

/** Decodes whole bytes; bits that are left over are dropped. */
function decode(text: string, from: number, to: number): Uint8Array {
  const bytes = new Uint8Array(Math.floor(((to - from) * 5) / 8))
  let bits = 0
  let held = 0
  let length = 0
  for (let at = from; at < to; at++) {
    held = ((held << 5) | digitAt(BASE32, text, at)) & 0xfff
    bits += 5
    if (bits >= 8) {
      bits -= 8
      bytes[length++] = held >> bits
    }
  }
  return bytes
}
