import { etc, Point } from '@noble/ed25519'
import { sha512 } from '@noble/hashes/sha2.js'
import { isSame } from '../../tlog/hash.ts'
import type { Verify } from '../../tlog/signature.ts'

const POINT_BYTES = 32

/**
 * Ed25519 (RFC 8032, section 5.1.7) with the same results as Node: canonical points and scalars only, no points of
 * small order, and the equation without the cofactor. The library's own check uses the cofactor, so it could accept a
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
