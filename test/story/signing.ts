import { createPrivateKey, createPublicKey } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import { base64urlnopad, hex } from '@scure/base'
import { openSigner, type Signer, type SigningKey } from '../../src/log/tree/signer.ts'
import { changeKeys } from '../../src/log/tree/ready-log.ts'
import { readIdentity } from '../../src/log/store/store.ts'

/** PKCS #8 prefix of an Ed25519 seed of 32 bytes (RFC 8410). */
const PKCS8_HEAD = '302e020100300506032b657004220420'

/** The signing key of a seed. */
export function signingKeyOf(seed: string): SigningKey {
  const der = Buffer.from(`${PKCS8_HEAD}${seed}`, 'hex')
  const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
  const { x = '' } = createPublicKey(privateKey).export({ format: 'jwk' })
  return { privateKey, publicKey: base64urlnopad.decode(x) }
}

/** The key that signs the logs of tests, with the seed of the worked example. */
export const TEST_KEY: SigningKey = signingKeyOf(
  'c1a7c9f842ecee3d4567656b0cc6b62659a6ba06c75d59cec7dfcd04c310c480',
)

/** Another key, for rotations and forgeries. */
export const OTHER_KEY: SigningKey = signingKeyOf(hex.encode(new Uint8Array(32).fill(7)))

/** Lists the key of tests in a store and opens its signer. */
export function testSigner(db: DatabaseSync): Signer {
  changeKeys(db, { keys: [TEST_KEY], acceptNewKey: false })
  return openSigner(readIdentity(db).origin, [TEST_KEY])
}
