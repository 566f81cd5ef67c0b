import type { DatabaseSync } from 'node:sqlite'
import { certifyNode, openNodeVerifier } from './node-key.ts'
import type { NodeSigner, NodeVerifier } from './node-key.ts'
import { readIdentity, StoreError } from '../store/store.ts'
import type { Signer, SigningKey } from '../tree/signer.ts'
import { openSigner, verifierKeyOf } from '../tree/signer.ts'
import { signingVkeys } from '../tree/signing-keys.ts'
import { assert } from '../../protocol/brand.ts'
import { formatVkey } from '../../tlog/vkey.ts'

/** Keys of a node whose log is on an engine, as the log lists them now. */
export type BookKeys = Readonly<{
  /** Keys that sign the log now, in the order of the log's list, so that all nodes make the same signatures. */
  signing: readonly SigningKey[]
  signer: Signer
  /** The node's key with a certificate of the first of them. */
  node: NodeSigner
  verifier: NodeVerifier
}>

/**
 * Opens the keys that sign the log now. Throws a StoreError when this node has not all of them: its signatures would
 * differ from those of other nodes.
 */
export function openBookKeys(db: DatabaseSync, own: readonly SigningKey[], nodeKey: SigningKey): BookKeys {
  const { id, origin } = readIdentity(db)
  const known = new Map(own.map((key) => [formatVkey(verifierKeyOf(origin, key.publicKey)), key]))
  const signing = signingVkeys(db).map((vkey) => {
    const key = known.get(vkey)
    if (key === undefined) {
      throw new StoreError(
        `the log is signed with ${vkey}: give the file of that key with --signing-key-file`,
      )
    }
    return key
  })
  const [first] = signing
  assert(first !== undefined, 'a key signs the log')
  return {
    signing,
    signer: openSigner(origin, signing),
    node: certifyNode(id, nodeKey, first),
    verifier: openNodeVerifier(
      id,
      signing.map(({ publicKey }) => verifierKeyOf(origin, publicKey)),
    ),
  }
}
