import { assert } from '../../protocol/brand.ts'

// SHA-256 (FIPS 180-4) with a state that can be stored and resumed, which `node:crypto` does not offer. It is slower,
// and used only for digests that grow for a month over several starts.

/** An unfinished digest: the first `bytes % 64` bytes of `tail` are not hashed yet. Changed in place. */
export type Sha256State = { readonly words: Int32Array; readonly tail: Uint8Array; bytes: number }

const BLOCK_BYTES = 64
const WORDS = 8
const ROUNDS = 64
const LENGTH_BYTES = 8
const TWO_32 = 2 ** 32

/** Fractional parts of the square roots (start) and cube roots (rounds) of the first 64 primes, 32 bits each. */
const [START, ROUND_CONSTANTS] = constantsOf()

export function beginSha256(): Sha256State {
  return { words: START.slice(), tail: new Uint8Array(BLOCK_BYTES), bytes: 0 }
}

/** Adds the next bytes to the digest. */
export function updateSha256(state: Sha256State, bytes: Uint8Array): void {
  const { words, tail } = state
  const waiting = state.bytes % BLOCK_BYTES
  state.bytes += bytes.length
  let at = 0
  if (waiting > 0) {
    at = Math.min(BLOCK_BYTES - waiting, bytes.length)
    tail.set(bytes.subarray(0, at), waiting)
    if (waiting + at < BLOCK_BYTES) return
    takeBlocks(words, tail, 0, BLOCK_BYTES)
  }
  const end = bytes.length - ((bytes.length - at) % BLOCK_BYTES)
  takeBlocks(words, bytes, at, end)
  tail.set(bytes.subarray(end))
}

/** The digest of all bytes so far, in hex. The state does not change. */
export function sha256Of({ words, tail, bytes }: Sha256State): string {
  const waiting = bytes % BLOCK_BYTES
  const padded = new Uint8Array(waiting + 1 + LENGTH_BYTES > BLOCK_BYTES ? 2 * BLOCK_BYTES : BLOCK_BYTES)
  padded.set(tail.subarray(0, waiting))
  padded[waiting] = 0x80
  const length = new DataView(padded.buffer, padded.length - LENGTH_BYTES)
  length.setUint32(0, Math.floor((bytes * 8) / TWO_32))
  length.setUint32(4, (bytes * 8) % TWO_32)
  const last = words.slice()
  takeBlocks(last, padded, 0, padded.length)
  return Array.from(last, (word) => (word >>> 0).toString(16).padStart(8, '0')).join('')
}

/** Encodes the state: its words, then the bytes that are not hashed yet. */
export function encodeSha256({ words, tail, bytes }: Sha256State): Uint8Array {
  const encoded = new Uint8Array(WORDS * 4 + (bytes % BLOCK_BYTES))
  const view = new DataView(encoded.buffer)
  for (let word = 0; word < WORDS; word++) view.setInt32(word * 4, words[word] ?? 0)
  encoded.set(tail.subarray(0, bytes % BLOCK_BYTES), WORDS * 4)
  return encoded
}

/** Decodes the state after `bytes` bytes. Throws when its length does not fit that count. */
export function decodeSha256(encoded: Uint8Array, bytes: number): Sha256State {
  assert(encoded.length === WORDS * 4 + (bytes % BLOCK_BYTES), `a stored digest is of ${bytes} bytes`)
  const view = new DataView(encoded.buffer, encoded.byteOffset)
  const tail = new Uint8Array(BLOCK_BYTES)
  tail.set(encoded.subarray(WORDS * 4))
  return { words: Int32Array.from({ length: WORDS }, (_, word) => view.getInt32(word * 4)), tail, bytes }
}

const schedule = new Int32Array(ROUNDS)

/** Applies the compression function to the blocks from `from` to `to`. */
function takeBlocks(words: Int32Array, bytes: Uint8Array, from: number, to: number): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const w = schedule
  const k = ROUND_CONSTANTS
  let [a0 = 0, b0 = 0, c0 = 0, d0 = 0, e0 = 0, f0 = 0, g0 = 0, h0 = 0] = words
  for (let at = from; at < to; at += BLOCK_BYTES) {
    for (let i = 0; i < 16; i++) w[i] = view.getInt32(at + i * 4)
    for (let i = 16; i < ROUNDS; i++) {
      const x = w[i - 15] ?? 0
      const y = w[i - 2] ?? 0
      const s0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3)
      const s1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10)
      w[i] = ((w[i - 16] ?? 0) + s0 + (w[i - 7] ?? 0) + s1) | 0
    }
    let a = a0
    let b = b0
    let c = c0
    let d = d0
    let e = e0
    let f = f0
    let g = g0
    let h = h0
    for (let i = 0; i < ROUNDS; i++) {
      const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7))
      const t1 = (h + s1 + (g ^ (e & (f ^ g))) + (k[i] ?? 0) + (w[i] ?? 0)) | 0
      const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10))
      const t2 = (s0 + ((a & b) | (c & (a | b)))) | 0
      h = g
      g = f
      f = e
      e = (d + t1) | 0
      d = c
      c = b
      b = a
      a = (t1 + t2) | 0
    }
    a0 = (a0 + a) | 0
    b0 = (b0 + b) | 0
    c0 = (c0 + c) | 0
    d0 = (d0 + d) | 0
    e0 = (e0 + e) | 0
    f0 = (f0 + f) | 0
    g0 = (g0 + g) | 0
    h0 = (h0 + h) | 0
  }
  words.set([a0, b0, c0, d0, e0, f0, g0, h0])
}

function constantsOf(): readonly [start: Int32Array, rounds: Int32Array] {
  const primes: number[] = []
  for (let n = 2; primes.length < ROUNDS; n++) if (primes.every((prime) => n % prime !== 0)) primes.push(n)
  return [
    Int32Array.from(primes.slice(0, WORDS), (prime) => fractionOfRoot(prime, 2)),
    Int32Array.from(primes, (prime) => fractionOfRoot(prime, 3)),
  ]
}

/**
 * The first 32 bits of the fraction of a prime's square or cube root. Computed with integers, as floats would round.
 */
function fractionOfRoot(prime: number, degree: 2 | 3): number {
  const scaled = BigInt(prime) << BigInt(32 * degree)
  let root = 0n
  for (let bit = 1n << 36n; bit > 0n; bit >>= 1n) {
    if ((root + bit) ** BigInt(degree) <= scaled) root += bit
  }
  return Number(BigInt.asIntN(32, root))
}
