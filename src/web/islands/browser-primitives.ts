import { etc, Point } from '@noble/ed25519'
import { sha256, sha512 } from '@noble/hashes/sha2.js'
import { isSame } from '../../tlog/hash.ts'
import type { Primitives } from '../../verify/reading/primitives.ts'
import type { Verify } from '../../tlog/note.ts'

// Cryptographic functions of the verifier in a browser. They work without https, unlike the browser's own.

const POINT_BYTES = 32

/**
 * Ed25519 (RFC 8032, section 5.1.7) with the same results as Node: canonical points and scalars only, no points of
 * small order, and the equation without the cofactor. The library's own check uses the cofactor, and could accept a
 * signature that `daybook verify` refuses.
 */
export const verifyEd25519: Verify = (publicKey, message, signature) => {
  const r = signature.subarray(0, POINT_BYTES)
  const s = numberIn(signature.subarray(POINT_BYTES))
  const { n } = Point.CURVE()
  const key = pointIn(publicKey)
  if (signature.length !== 2 * POINT_BYTES || s >= n || key === undefined || key.isSmallOrder()) return false
  const k = numberIn(sha512(etc.concatBytes(r, publicKey, message))) % n
  const made = Point.BASE.multiplyUnsafe(s).subtract(key.multiplyUnsafe(k))
  return !made.isSmallOrder() && isSame(made.toBytes(), r)
}

function pointIn(bytes: Uint8Array): Point | undefined {
  try {
    return Point.fromBytes(bytes)
  } catch {
    return undefined
  }
}

/** The number in little-endian bytes. */
function numberIn(bytes: Uint8Array): bigint {
  return bytes.reduceRight((sum, byte) => sum * 256n + BigInt(byte), 0n)
}

/** Bytes before an ML-DSA-44 key in SubjectPublicKeyInfo (RFC 9881). */
const SPKI_ML_DSA_44 = [
  0x30, 0x82, 0x05, 0x32, 0x30, 0x0b, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x03, 0x11, 0x03,
  0x82, 0x05, 0x21, 0x00,
]
const ML_DSA_44_KEY_BYTES = 1_312

/** ML-DSA-44 of the browser; null when unsupported, and on a page without https. */
async function openMlDsa44(): Promise<Verify | null> {
  const subtle: SubtleCrypto | undefined = globalThis.crypto?.subtle
  const keyOf = (bytes: Iterable<number>): Promise<CryptoKey> =>
    subtle.importKey('spki', Uint8Array.from([...SPKI_ML_DSA_44, ...bytes]), 'ML-DSA-44', false, ['verify'])
  try {
    // Any bytes of this length are a key, so the import fails only without support.
    await keyOf(new Uint8Array(ML_DSA_44_KEY_BYTES))
  } catch {
    return null
  }
  return async (key, message, signature) =>
    subtle.verify('ML-DSA-44', await keyOf(key), new Uint8Array(signature), new Uint8Array(message))
}

export async function openPrimitives(): Promise<Primitives> {
  return {
    sha256: (bytes) => sha256(bytes),
    openSha256: () => sha256.create(),
    verifyEd25519,
    verifyMlDsa44: await openMlDsa44(),
  }
}
