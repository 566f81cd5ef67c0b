import type { Cosignature } from '../../src/tlog/cosignature.ts'
import { cosignatureMessage } from '../../src/tlog/cosignature.ts'
import type { NoteSignature } from '../../src/tlog/note.ts'
import type { SignEd25519 } from '../../src/tlog/signature.ts'
import type { VerifierKey } from '../../src/tlog/vkey.ts'

/** Inverse of `parseCosignature`. */
export function formatCosignature({ timeSeconds, signature }: Cosignature): Uint8Array {
  const time = Buffer.alloc(8)
  time.writeBigUInt64BE(BigInt(timeSeconds))
  return Uint8Array.from([...time, ...signature])
}

/** Cosigns a checkpoint's text as a witness does, at a time in whole seconds since 1970. */
export function cosignText(
  key: VerifierKey,
  sign: SignEd25519,
  timeSeconds: number,
  text: string,
): NoteSignature {
  const signature = sign(cosignatureMessage(timeSeconds, text))
  return { name: key.name, keyId: key.keyId, signature: formatCosignature({ timeSeconds, signature }) }
}
