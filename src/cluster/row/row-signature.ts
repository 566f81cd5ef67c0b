import { createPublicKey, type KeyObject, sign, verify } from 'node:crypto'
import { base64urlnopad } from '@scure/base'
import type { SigningKey } from '../../log/tree/signer.ts'
import type { Hash } from '../../tlog/hash.ts'
import type { VerifierKey } from '../../tlog/vkey.ts'

/** Bytes of the signature of a row. */
export const ROW_SIGNATURE_BYTES = 64

// The key of a row also signs checkpoints and statements about keys. Without a context of its own, bytes that somebody had
// signed as one could pass for the other.
const CONTEXT = Buffer.from('daybook/commit/v1\n')

/** Signature of the row whose bytes before it have this SHA-256. */
export function signRow(digest: Hash, { privateKey }: SigningKey): Uint8Array {
  return sign(null, Buffer.concat([CONTEXT, digest]), privateKey)
}

/** Tells rows of a log from foreign ones. */
export type RowVerifier = Readonly<{
  /** Reason why a row is foreign; null when one of the keys has signed it. */
  refusalOf(signed: Readonly<{ digest: Hash; signature: Uint8Array }>): string | null
}>

/** Opens the verifier for rows that any of these keys may have signed. */
export function openRowVerifier(keys: readonly VerifierKey[]): RowVerifier {
  const known = keys.map(({ publicKey }) => publicKeyOf(publicKey))
  return {
    refusalOf({ digest, signature }) {
      const text = Buffer.concat([CONTEXT, digest])
      return known.some((key) => verify(null, text, key, signature))
        ? null
        : 'no key of the log has signed it'
    },
  }
}

function publicKeyOf(publicKey: Uint8Array): KeyObject {
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: base64urlnopad.encode(publicKey) }
  return createPublicKey({ key: jwk, format: 'jwk' })
}
