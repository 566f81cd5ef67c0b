import { formatUtf8 } from './text.ts'

/** Bytes of a signature of Ed25519. */
export const SIGNATURE_BYTES = 64
/** Bytes of a cosignature: the time, then the signature. */
export const COSIGNATURE_BYTES: number = 8 + SIGNATURE_BYTES

/** When a witness saw the checkpoint, in whole seconds since 1970, at most 2^53−1, and its signature. */
export type Cosignature = Readonly<{ timeSeconds: number; signature: Uint8Array }>

const SECONDS_MAX = BigInt(Number.MAX_SAFE_INTEGER)

/**
 * What a witness signs (C2SP cosignature/v1): that as of this time the checkpoint with this text is of the largest
 * consistent tree that it has seen of this origin.
 */
export function cosignatureMessage(timeSeconds: number, checkpointText: string): Uint8Array {
  return formatUtf8(`cosignature/v1\ntime ${timeSeconds}\n${checkpointText}`)
}

/** The bytes that stand behind the key id in a witness's line. */
export function formatCosignature({ timeSeconds, signature }: Cosignature): Uint8Array {
  if (!Number.isSafeInteger(timeSeconds) || timeSeconds < 0 || signature.length !== SIGNATURE_BYTES) {
    throw new RangeError(`a cosignature has whole seconds and a signature of ${SIGNATURE_BYTES} bytes`)
  }
  const bytes = new Uint8Array(COSIGNATURE_BYTES)
  new DataView(bytes.buffer).setBigUint64(0, BigInt(timeSeconds))
  bytes.set(signature, COSIGNATURE_BYTES - SIGNATURE_BYTES)
  return bytes
}

/** The cosignature in these bytes; undefined for another length or a time beyond 2^53−1. */
export function parseCosignature(bytes: Uint8Array): Cosignature | undefined {
  if (bytes.length !== COSIGNATURE_BYTES) return undefined
  const seconds = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getBigUint64(0)
  if (seconds > SECONDS_MAX) return undefined
  return { timeSeconds: Number(seconds), signature: bytes.subarray(COSIGNATURE_BYTES - SIGNATURE_BYTES) }
}
