import { createHash } from 'node:crypto'
import type { NodeSigner, NodeVerifier } from '../../src/log/message/node-key.ts'
import { certifyNode, openNodeVerifier } from '../../src/log/message/node-key.ts'
import { verifierKeyOf } from '../../src/log/tree/signer.ts'
import { signingKeyOf, TEST_KEY } from '../story/signing.ts'

/** Moment at which the virtual time of a model begins: milliseconds since 1970. */
export const EPOCH_MS: number = Date.UTC(2026, 10, 23)

export const MODEL_LOG = 'model'

/** The key of a node of the model with its certificate: another name has another key. */
export function modelSigner(name: string): NodeSigner {
  const seed = createHash('sha256').update(name).digest('hex')
  return certifyNode(MODEL_LOG, signingKeyOf(seed), TEST_KEY)
}

export const MODEL_VERIFIER: NodeVerifier = openNodeVerifier(MODEL_LOG, [
  verifierKeyOf('daybook.test/model', TEST_KEY.publicKey),
])
