import { createPublicKey, hash, type KeyObject, sign, verify } from 'node:crypto'
import { base64urlnopad, hex } from '@scure/base'
import { formatCheckpoint } from '../../tlog/checkpoint.ts'
import {
  formatNote,
  KEY_ID_BYTES,
  type Note,
  type NoteSignature,
  type VerifierKey,
  verifierKey,
} from '../../tlog/note.ts'
import type { WitnessVerification } from '../../tlog/quorum.ts'
import type { Tree } from '../../tlog/proof.ts'

/** Ed25519 key that signs checkpoints. It can be sent to another thread. */
export type SigningKey = Readonly<{ privateKey: KeyObject; publicKey: Uint8Array }>

/**
 * Signed note of a tree, and its signature as stored. The signature has for each key its id (4 bytes) and the Ed25519
 * signature (64 bytes). The note's text is made from the tree and not stored.
 */
type SignedTree = Readonly<{ signature: Uint8Array; note: string }>

/** Signs the trees of one log. */
export type Signer = Readonly<{ sign(tree: Tree): SignedTree }>

const ED25519_BYTES = 64
const ITEM_BYTES = KEY_ID_BYTES + ED25519_BYTES

/** Opens a signer for the log with this origin. Every key signs each tree. */
export function openSigner(origin: string, keys: readonly SigningKey[]): Signer {
  const named = keys.map(({ privateKey, publicKey }) => ({
    privateKey,
    id: hex.decode(verifierKeyOf(origin, publicKey).keyId),
  }))
  return {
    sign(tree) {
      const text = Buffer.from(textOf(origin, tree))
      const signature = Buffer.concat(
        named.flatMap(({ id, privateKey }) => [id, sign(null, text, privateKey)]),
      )
      return { signature, note: noteOf(origin, tree, signature) }
    },
  }
}

/** Signed note of a tree, made from its stored signature. */
export function noteOf(origin: string, tree: Tree, signature: Uint8Array): string {
  return formatNote({ text: textOf(origin, tree), signatures: signaturesOf(origin, signature) })
}

/** Whether a stored signature is valid for this tree, by the rules of `isSignedNote`. */
export function isSigned(
  origin: string,
  tree: Tree,
  signature: Uint8Array,
  keys: readonly VerifierKey[],
): boolean {
  const signatures = signaturesOf(origin, signature)
  return signature.length % ITEM_BYTES === 0 && isSignedNote({ text: textOf(origin, tree), signatures }, keys)
}

/**
 * Whether every signature of the note is valid and by one of the keys. This is stricter than for readers, who ignore
 * signatures by unknown keys, because the log lists every key that ever signed it.
 */
export function isSignedNote({ text, signatures }: Note, keys: readonly VerifierKey[]): boolean {
  const message = Buffer.from(text)
  const isRight = ({ name, keyId, signature }: NoteSignature): boolean => {
    const key = keys.find((known) => known.name === name && known.keyId === keyId)
    return key !== undefined && verifyRawEd25519(key.publicKey, message, signature)
  }
  return signatures.length > 0 && signatures.every(isRight)
}

/** Whether a stored signature names one of these keys. Does not verify it. */
export function isMadeWith(signature: Uint8Array, keys: readonly VerifierKey[]): boolean {
  return signaturesOf('', signature).some(({ keyId }) => keys.some((key) => key.keyId === keyId))
}

/** Verifies an Ed25519 signature with a raw public key, by Node's own crypto. */
export function verifyRawEd25519(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: base64urlnopad.encode(publicKey) }
  return verify(null, message, createPublicKey({ key: jwk, format: 'jwk' }), signature)
}

/** Verifies an ML-DSA-44 signature (FIPS 204) with a raw public key of 1,312 bytes, by Node's own crypto. */
export function verifyRawMlDsa44(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  const jwk = { kty: 'AKP', alg: 'ML-DSA-44', pub: base64urlnopad.encode(publicKey) }
  return verify(null, message, createPublicKey({ key: jwk, format: 'jwk' }), signature)
}

/** Signatures of witnesses, verified by Node's own crypto. */
export const NODE_SIGNATURES: WitnessVerification = {
  verifyEd25519: verifyRawEd25519,
  verifyMlDsa44: verifyRawMlDsa44,
}

/** Verifier key of a public key for the log with this origin. */
export function verifierKeyOf(origin: string, publicKey: Uint8Array): VerifierKey {
  return verifierKey(sha256, origin, 'ed25519', publicKey)
}

export function sha256(bytes: Uint8Array): Uint8Array {
  // Twice as fast as `hash` with a buffer as result.
  return Buffer.from(hash('sha256', bytes, 'latin1'), 'latin1')
}

function textOf(origin: string, { size, root }: Tree): string {
  return formatCheckpoint({ origin, size, root, extensions: [] })
}

function signaturesOf(name: string, signature: Uint8Array): readonly NoteSignature[] {
  return Array.from({ length: Math.floor(signature.length / ITEM_BYTES) }, (_, index) => {
    const start = index * ITEM_BYTES
    const id = signature.subarray(start, start + KEY_ID_BYTES)
    const bytes = signature.subarray(start + KEY_ID_BYTES, start + ITEM_BYTES)
    return { name, keyId: hex.encode(id), signature: bytes }
  })
}
