import { parseCheckpoint } from './checkpoint.ts'
import { type CosignerType, formatUtf8, type NoteSignature, type Sign, type VerifierKey } from './note.ts'

/** Bytes of the signature in a cosignature of each type: Ed25519 (RFC 8032), and ML-DSA-44 (FIPS 204). */
const SIGNATURE_BYTES: Readonly<Record<CosignerType, number>> = {
  'ed25519-cosignature': 64,
  'ml-dsa-44-cosignature': 2_420,
}
/** Bytes of the time before the signature: whole seconds since 1970, the highest byte first. */
const TIME_BYTES = 8
/** Most bytes of a witness name, and of an origin, in a message for ML-DSA-44. */
export const COSIGNED_NAME_BYTES_MAX = 255

/** A witness's signature and its time, in whole seconds since 1970, from 1 to 2^53−1. */
type Cosignature = Readonly<{ timeSeconds: number; signature: Uint8Array }>

const SECONDS_MAX = BigInt(Number.MAX_SAFE_INTEGER)

/**
 * Message that a witness signs at a time in whole seconds (C2SP tlog-cosignature). It states that the checkpoint is of
 * the largest consistent tree of this origin that the witness has seen by then. Undefined when the text is no
 * checkpoint, or when a name or origin exceeds 255 bytes with ML-DSA-44.
 */
export function cosignedMessage(
  { type, name }: Pick<VerifierKey, 'type' | 'name'>,
  timeSeconds: number,
  text: string,
): Uint8Array | undefined {
  const checkpoint = parseCheckpoint(text)
  if (checkpoint === undefined || type === 'ed25519') return undefined
  if (type === 'ed25519-cosignature') return formatUtf8(`cosignature/v1\ntime ${timeSeconds}\n${text}`)
  const [cosigner, origin] = [formatUtf8(name), formatUtf8(checkpoint.origin)]
  if (cosigner.length > COSIGNED_NAME_BYTES_MAX || origin.length > COSIGNED_NAME_BYTES_MAX) return undefined
  // The message signs a subtree. A checkpoint's subtree starts at leaf 0 and ends at the size of the tree.
  return Uint8Array.from([
    ...formatUtf8('subtree/v1\n\0'),
    cosigner.length,
    ...cosigner,
    ...uint64(timeSeconds),
    origin.length,
    ...origin,
    ...uint64(0),
    ...uint64(checkpoint.size),
    ...checkpoint.root,
  ])
}

/** Signs a checkpoint's text as a witness. Throws a `RangeError` where `cosignedMessage` is undefined. */
export function cosignText(key: VerifierKey, sign: Sign, timeSeconds: number, text: string): NoteSignature {
  const message = cosignedMessage(key, timeSeconds, text)
  if (message === undefined)
    throw new RangeError('a witness key signs checkpoints of an origin that is not too long')
  const signature = formatCosignature({ timeSeconds, signature: sign(message) })
  return { name: key.name, keyId: key.keyId, signature }
}

/** Formats the bytes after the key id in a witness's signature line. */
export function formatCosignature({ timeSeconds, signature }: Cosignature): Uint8Array {
  return Uint8Array.from([...uint64(timeSeconds), ...signature])
}

/**
 * Parses the bytes after the key id in a witness's signature line. Undefined for another length and for a time that is
 * out of range. Time 0 is refused because it makes no statement about the largest tree.
 */
export function parseCosignature(type: CosignerType, bytes: Uint8Array): Cosignature | undefined {
  if (bytes.length !== TIME_BYTES + SIGNATURE_BYTES[type]) return undefined
  const seconds = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getBigUint64(0)
  if (seconds < 1n || seconds > SECONDS_MAX) return undefined
  return { timeSeconds: Number(seconds), signature: bytes.subarray(TIME_BYTES) }
}

function uint64(value: number): Uint8Array {
  const bytes = new Uint8Array(8)
  new DataView(bytes.buffer).setBigUint64(0, BigInt(value))
  return bytes
}
