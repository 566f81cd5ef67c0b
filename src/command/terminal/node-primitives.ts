import { createHash } from 'node:crypto'
import { NODE_SIGNATURES, sha256 } from '../../log/tree/signer.ts'
import type { Primitives } from '../../verify/reading/primitives.ts'

/** SHA-256 and signatures of Node, to verify the answers of an origin. */
export const NODE_PRIMITIVES: Primitives = {
  sha256,
  openSha256() {
    const hash = createHash('sha256')
    return { update: (bytes) => void hash.update(bytes), digest: () => hash.digest() }
  },
  ...NODE_SIGNATURES,
}
