import { crc32 } from 'node:zlib'
import { blake256 } from '@noble/hashes/blake1.js'
import { blake2b } from '@noble/hashes/blake2.js'
import { sha256, sha512_256 } from '@noble/hashes/sha2.js'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { base32nopad, base58, base58xmr, base58xrp, bech32, createBase58check } from '@scure/base'

/** Bytes, each a number from 0 to 255. */
export type Bytes = readonly number[] | Uint8Array

const join = (...parts: readonly Bytes[]) => Uint8Array.from(parts.flatMap((part) => Array.from(part)))
/** Bytes of a whole number, the highest first. */
const bigEndian = (value: number) => [24, 16, 8, 0].map((bit) => (value >>> bit) & 255)

/** CRC-16/XMODEM, by long division as it is defined, unlike the shift register of the guard. */
function xmodem(body: Uint8Array): number {
  const POLYNOMIAL = 0x11021n
  let rest = BigInt(`0x${body.toHex()}`) << 16n
  for (let bit = body.length * 8 - 1; bit >= 0; bit--)
    if ((rest >> BigInt(bit + 16)) & 1n) rest ^= POLYNOMIAL << BigInt(bit)
  return Number(rest)
}

const checked = createBase58check(sha256)
/** Base58Check of a version and a payload. */
export function base58CheckOf(version: Bytes, payload: Bytes): string {
  return checked.encode(join(version, payload))
}

const withDigest = (body: Uint8Array, digest: (bytes: Uint8Array) => Uint8Array) =>
  base58.encode(join(body, digest(body).subarray(0, 4)))
const blake2b256 = (body: Uint8Array) => blake2b(body, { dkLen: 32 })

/** Waves of the letter of its network and the hash of a key. */
export function wavesOf(network: string, key: Bytes): string {
  return withDigest(join([1, network.charCodeAt(0)], key), (body) => keccak_256(blake2b256(body)))
}

/** Decred of a version and a hash. */
export function decredOf(version: Bytes, digest: Bytes): string {
  return withDigest(join(version, digest), (body) => blake256(blake256(body)))
}

/** Ergo of a network, of the sign of a public key, and of its number. */
export function ergoOf(network: number, sign: number, key: Bytes): string {
  return withDigest(join([network + 1, sign], key), blake2b256)
}

/** Base58Check in the alphabet of the XRP ledger. */
export function xrpOf(version: Bytes, payload: Bytes): string {
  const body = join(version, payload)
  return base58xrp.encode(join(body, sha256(sha256(body)).subarray(0, 4)))
}

/** Cardano Byron of a CBOR payload, with the CBOR head of its checksum and the length that it tells. */
export function byronOf(payload: Bytes, head: number = 0x1a, length: number = payload.length): string {
  const sum = crc32(Uint8Array.from(payload))
  return base58.encode(join([0x82, 0xd8, 0x18, 0x58, length], payload, [head], bigEndian(sum)))
}

/** Monero of a network and its keys. */
export function moneroOf(network: number, keys: Bytes): string {
  const body = join([network], keys)
  return base58xmr.encode(join(body, keccak_256(body).subarray(0, 4)))
}

/** SS58 of a network and an account. */
export function ss58Of(network: Bytes, account: Bytes): string {
  const body = join(network, account)
  return base58.encode(join(body, blake2b(join(Buffer.from('SS58PRE'), body)).subarray(0, 2)))
}

/** Stellar of a version byte and its bytes. */
export function stellarOf(version: number, key: Bytes): string {
  const body = join([version], key)
  const sum = xmodem(body)
  return base32nopad.encode(join(body, [sum & 255, sum >> 8]))
}

/** Algorand of a public key. */
export function algorandOf(key: Uint8Array): string {
  return base32nopad.encode(join(key, sha512_256(key).subarray(-4)))
}

/** The 36 bytes of a TON address, of a tag, a chain and a key. */
export function tonOf(tag: number, chain: number, key: Bytes): Uint8Array {
  const body = join([tag, chain], key)
  return join(body, bigEndian(xmodem(body)).slice(2))
}

/** Filecoin: network and protocol as they are written, and the bytes that they add to the checksum. */
export function filecoinOf(written: string, protocol: Bytes, payload: Bytes): string {
  const sum = blake2b(join(protocol, payload), { dkLen: 4 })
  return written + base32nopad.encode(join(payload, sum)).toLowerCase()
}

const NANO_BASE32 = '13456789abcdefghijkmnopqrstuwxyz'
const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
/** A number in digits of five bits, of so many characters. */
const base32Number = (alphabet: string, value: bigint, chars: number) =>
  Array.from({ length: chars }, (_, at) =>
    alphabet.charAt(Number((value >> BigInt(5 * (chars - 1 - at))) & 31n)),
  ).join('')
const numberOf = (bytes: Uint8Array) => BigInt(`0x${bytes.toHex()}`)

/** A nano address of a public key, without its prefix. */
export function nanoOf(key: Uint8Array): string {
  const sum = blake2b(key, { dkLen: 5 }).toReversed()
  return base32Number(NANO_BASE32, numberOf(key), 52) + base32Number(NANO_BASE32, numberOf(sum), 8)
}

/** Stacks of a letter for the version, and a hash. A leading zero byte is written as a zero. */
export function stacksOf(letter: string, digest: Uint8Array): string {
  const sum = sha256(sha256(join([CROCKFORD.indexOf(letter)], digest))).subarray(0, 4)
  const body = join(digest, sum)
  const zeros = body.findIndex((byte) => byte !== 0)
  const value = numberOf(body)
  const chars = Math.ceil(value.toString(2).length / 5)
  return `S${letter}${'0'.repeat(zeros)}${base32Number(CROCKFORD, value, chars)}`
}

/** A principal of the Internet Computer, of a hash of 28 bytes and its kind. */
export function principalOf(digest: Bytes, kind: number = 2): string {
  const body = join(digest, [kind])
  const text = base32nopad.encode(join(bigEndian(crc32(body)), body)).toLowerCase()
  return (text.match(/.{1,5}/g) ?? []).join('-')
}

const CHARSET = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l'
/** The same digits in the alphabet of Conflux. */
const CHARSET_CONFLUX = 'abcdefghjkmnprstuvwxyz0123456789'
const CASHADDR_TERMS = [0x98f2bc8e61n, 0x79b76d99e2n, 0xf33e5fb3c4n, 0xae2eabe2a8n, 0x1e4f43e470n]

/** Cashaddr without its prefix, which is a part of the checksum. Its checksum is one number of 40 bits, as specified. */
export function cashaddrOf(prefix: string, version: number, digest: Bytes): string {
  const payload = bech32.toWords(join([version], digest))
  const before = Array.from(prefix, (letter) => letter.charCodeAt(0) & 31)
  let sum = 1n
  for (const digit of [...before, 0, ...payload, 0, 0, 0, 0, 0, 0, 0, 0]) {
    const top = sum >> 35n
    sum = ((sum & 0x07ffffffffn) << 5n) ^ BigInt(digit)
    for (const [bit, term] of CASHADDR_TERMS.entries()) if ((top >> BigInt(bit)) & 1n) sum ^= term
  }
  const checksum = Array.from({ length: 8 }, (_, at) => Number(((sum ^ 1n) >> BigInt(5 * (7 - at))) & 31n))
  return [...payload, ...checksum].map((digit) => CHARSET.charAt(digit)).join('')
}

/** Conflux without its prefix, which is a part of the checksum. */
export function confluxOf(prefix: string, address: Bytes): string {
  return Array.from(cashaddrOf(prefix, 0, address), (letter) =>
    CHARSET_CONFLUX.charAt(CHARSET.indexOf(letter)),
  ).join('')
}

/** ICAP of an account, which is an address in base 36, or an asset with a name. */
export function icapOf(account: string): string {
  const digits = Array.from(`${account}XE00`, (letter) => Number.parseInt(letter, 36)).join('')
  return `XE${String(98n - (BigInt(digits) % 97n)).padStart(2, '0')}${account}`
}

/** A number in base 36 of so many characters, for an ICAP address. */
export function base36Of(value: bigint, length: number): string {
  return value.toString(36).toUpperCase().padStart(length, '0')
}

/** An Ethereum address of 40 digits, with the checksum of EIP-55 in the case of its letters. */
export function eip55Of(address: Uint8Array): string {
  const digits = address.toHex()
  const hash = keccak_256(Buffer.from(digits)).toHex()
  return Array.from(digits, (digit, at) =>
    Number.parseInt(hash.charAt(at), 16) > 7 ? digit.toUpperCase() : digit,
  ).join('')
}
