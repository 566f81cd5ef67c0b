import type { Cosignature } from './cosignature.ts'
import { cosignatureMessage, formatCosignature, parseCosignature, SIGNATURE_BYTES } from './cosignature.ts'
import type { Note, NoteSignature } from './note.ts'
import { formatUtf8 } from './text.ts'
import type { Verdict } from './verdict.ts'
import { doubted, proved } from './verdict.ts'
import type { VerifierKey } from './vkey.ts'

/** Ed25519 as the runtime has it: whether the signature of 64 bytes is of this message by this key of 32 bytes. */
export type VerifyEd25519 = (
  publicKey: Uint8Array,
  message: Uint8Array,
  signature: Uint8Array,
) => boolean | Promise<boolean>

/** Ed25519 with a private key that stays where it is: the signature of the message, 64 bytes. */
export type SignEd25519 = (message: Uint8Array) => Uint8Array

/** A line of a known key that holds; `timeSeconds` is a witness's, and null in a log's own signature. */
export type VerifiedSignature = Readonly<{ key: VerifierKey; timeSeconds: number | null }>

/** A note whose known signatures hold, each once for a key: one at least. */
export type OpenedNote = Readonly<{ text: string; signed: readonly VerifiedSignature[] }>

/** Signs a note's text with a key of type `ed25519`. */
export function signText(key: VerifierKey, sign: SignEd25519, text: string): NoteSignature {
  if (key.type !== 'ed25519') throw new RangeError('a witness key signs cosignatures only')
  return { name: key.name, keyId: key.keyId, signature: sign(formatUtf8(text)) }
}

/** Cosigns a checkpoint's text with a witness's key, as of a time in whole seconds since 1970. */
export function cosignText(
  key: VerifierKey,
  sign: SignEd25519,
  timeSeconds: number,
  text: string,
): NoteSignature {
  if (key.type !== 'cosignature') throw new RangeError('a cosignature is signed with a witness key')
  const cosignature: Cosignature = { timeSeconds, signature: sign(cosignatureMessage(timeSeconds, text)) }
  return { name: key.name, keyId: key.keyId, signature: formatCosignature(cosignature) }
}

/**
 * Verifies a note as C2SP signed-note says: lines of unknown keys are ignored, one line of a known key that does
 * not hold refuses the whole note, and so does the lack of any line of a known key.
 */
export async function openNote(
  { text, signatures }: Note,
  keys: readonly VerifierKey[],
  verify: VerifyEd25519,
): Promise<Verdict<OpenedNote>> {
  const signed = new Map<VerifierKey, VerifiedSignature>()
  for (const line of signatures) {
    const candidates = keys.filter(({ name, keyId }) => name === line.name && keyId === line.keyId)
    for (const key of candidates) {
      const found = await verified(key, text, line.signature, verify)
      if (found === null) return doubted('bad-signature')
      if (!signed.has(key)) signed.set(key, found)
    }
  }
  return signed.size === 0 ? doubted('no-known-signature') : proved({ text, signed: [...signed.values()] })
}

async function verified(
  key: VerifierKey,
  text: string,
  bytes: Uint8Array,
  verify: VerifyEd25519,
): Promise<VerifiedSignature | null> {
  switch (key.type) {
    case 'ed25519': {
      const holds = bytes.length === SIGNATURE_BYTES && (await verify(key.publicKey, formatUtf8(text), bytes))
      return holds ? { key, timeSeconds: null } : null
    }
    case 'cosignature': {
      const cosignature = parseCosignature(bytes)
      if (cosignature === undefined) return null
      const { timeSeconds, signature } = cosignature
      const holds = await verify(key.publicKey, cosignatureMessage(timeSeconds, text), signature)
      return holds ? { key, timeSeconds } : null
    }
  }
}
