import { cosignatureMessage, parseCosignature, SIGNATURE_BYTES } from './cosignature.ts'
import type { Note, NoteSignature } from './note.ts'
import { formatUtf8 } from './text.ts'
import type { Verdict } from './verdict.ts'
import { doubted, proved } from './verdict.ts'
import type { VerifierKey } from './vkey.ts'

/** Ed25519 of the runtime: whether the key (32 bytes) made the signature (64 bytes) of the message. */
export type VerifyEd25519 = (
  publicKey: Uint8Array,
  message: Uint8Array,
  signature: Uint8Array,
) => boolean | Promise<boolean>

/** Signs a message with a private key that the caller holds; returns 64 bytes. */
export type SignEd25519 = (message: Uint8Array) => Uint8Array

/** A valid signature by a known key. `timeSeconds` is set for a witness, and null for a log. */
export type VerifiedSignature = Readonly<{ key: VerifierKey; timeSeconds: number | null }>

/** A note with at least one valid signature by a known key, at most one listed for each key. */
type OpenedNote = Readonly<{ text: string; signed: readonly VerifiedSignature[] }>

/** Signs a note's text with a key of type `ed25519`. */
export function signText(key: VerifierKey, sign: SignEd25519, text: string): NoteSignature {
  if (key.type !== 'ed25519') throw new RangeError('a witness key signs cosignatures only')
  return { name: key.name, keyId: key.keyId, signature: sign(formatUtf8(text)) }
}

/**
 * Verifies a note by the rules of C2SP signed-note. Signatures by unknown keys are ignored. A note is refused when a
 * signature by a known key is invalid, or when no known key has signed.
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
