import { createPublicKey, type KeyObject } from 'node:crypto'
import { base64urlnopad } from '@scure/base'
import { sha256 } from './signer.ts'
import { type VerifierKey, verifierKey } from '../../tlog/note.ts'

/** A key with which a witness cosigns: Ed25519 or ML-DSA-44. */
export type CosignerKey = Readonly<{ verifier: VerifierKey; privateKey: KeyObject }>

/** Key of a witness of this name. Throws a `RangeError` for a malformed name or a key of another type. */
export function cosignerKey(name: string, privateKey: KeyObject): CosignerKey {
  const { x, pub } = publicKeyOf(privateKey)
  const type = privateKey.asymmetricKeyType
  if (type === 'ed25519') return { verifier: verifierKey(sha256, name, 'ed25519-cosignature', x), privateKey }
  if (type === 'ml-dsa-44')
    return { verifier: verifierKey(sha256, name, 'ml-dsa-44-cosignature', pub), privateKey }
  throw new RangeError('the key of a witness is of Ed25519 or ML-DSA-44')
}

function publicKeyOf(privateKey: KeyObject): Readonly<{ x: Uint8Array; pub: Uint8Array }> {
  const { x = '', pub = '' }: { x?: string; pub?: unknown } = createPublicKey(privateKey).export({
    format: 'jwk',
  })
  return { x: base64urlnopad.decode(x), pub: base64urlnopad.decode(typeof pub === 'string' ? pub : '') }
}
