import type { Note, NoteSignature } from './note.ts'
import { formatUtf8 } from './text.ts'
import { doubted, proved, type Verdict } from './verdict.ts'
import type { VerifierKey } from './vkey.ts'

/** Bytes of an Ed25519 signature. */
const ED25519_BYTES = 64

/** Verification by the runtime: whether the public key, in its raw form, made the signature of the message. */
export type Verify = (
  publicKey: Uint8Array,
  message: Uint8Array,
  signature: Uint8Array,
) => boolean | Promise<boolean>

/** Signs a message with a private key that the caller holds; returns the raw signature. */
export type Sign = (message: Uint8Array) => Uint8Array

/** A note with at least one valid signature by a known key, and the keys whose signatures are valid. */
type OpenedNote = Readonly<{ text: string; signers: readonly VerifierKey[] }>

/** Signs a note's text with a key of type `ed25519`. */
export function signText(key: VerifierKey, sign: Sign, text: string): NoteSignature {
  if (key.type !== 'ed25519') throw new RangeError('a witness key signs cosignatures only')
  return { name: key.name, keyId: key.keyId, signature: sign(formatUtf8(text)) }
}

/**
 * Verifies a note by the rules of C2SP signed-note, with keys of type `ed25519`; other keys count as unknown. Signatures
 * by unknown keys are ignored. A note is refused when a signature by a known key is invalid, or when no known key has
 * signed.
 */
export async function openNote(
  { text, signatures }: Note,
  keys: readonly VerifierKey[],
  verifyEd25519: Verify,
): Promise<Verdict<OpenedNote>> {
  const message = formatUtf8(text)
  const signers = new Set<VerifierKey>()
  for (const { name, keyId, signature } of signatures) {
    for (const key of keys) {
      if (key.name !== name || key.keyId !== keyId || key.type !== 'ed25519') continue
      const holds =
        signature.length === ED25519_BYTES && (await verifyEd25519(key.publicKey, message, signature))
      if (!holds) return doubted('bad-signature')
      signers.add(key)
    }
  }
  return signers.size === 0 ? doubted('no-known-signature') : proved({ text, signers: [...signers] })
}
