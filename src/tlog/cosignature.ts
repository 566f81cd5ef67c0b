import { formatUtf8 } from './text.ts'

/** Bytes of an Ed25519 signature. */
export const SIGNATURE_BYTES = 64
/** Bytes of a cosignature: a 64-bit time, then the signature. */
const COSIGNATURE_BYTES: number = 8 + SIGNATURE_BYTES

/** A witness's signature and its time, in whole seconds since 1970, at most 2^53−1. */
export type Cosignature = Readonly<{ timeSeconds: number; signature: Uint8Array }>

const SECONDS_MAX = BigInt(Number.MAX_SAFE_INTEGER)

/**
 * Message that a witness signs (C2SP cosignature/v1). It states that at this time the checkpoint is of the largest
 * consistent tree of this origin that the witness has seen.
 */
export function cosignatureMessage(timeSeconds: number, checkpointText: string): Uint8Array {
  return formatUtf8(`cosignature/v1\ntime ${timeSeconds}\n${checkpointText}`)
}

/** Parses the bytes after the key id in a witness's signature line; undefined for another length or a later time. */
export function parseCosignature(bytes: Uint8Array): Cosignature | undefined {
  if (bytes.length !== COSIGNATURE_BYTES) return undefined
  const seconds = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getBigUint64(0)
  if (seconds > SECONDS_MAX) return undefined
  return { timeSeconds: Number(seconds), signature: bytes.subarray(COSIGNATURE_BYTES - SIGNATURE_BYTES) }
}
