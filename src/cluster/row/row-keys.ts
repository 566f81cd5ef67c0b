import type { DatabaseSync } from 'node:sqlite'
import type { ListedKey } from '../../log/store/reader.ts'
import { readIdentity, StoreError } from '../../log/store/store.ts'
import { openSigner, type Signer, type SigningKey, verifierKeyOf } from '../../log/tree/signer.ts'
import { signingVkeys } from '../../log/tree/signing-keys.ts'
import { openRowVerifier, type RowVerifier } from './row-frame.ts'
import { formatVkey } from '../../tlog/note.ts'

/** Keys of a node whose log is on a table, as currently listed. Each of them may have signed a row. */
export type RowKeys = RowVerifier &
  Readonly<{
    /** Current signing keys in the order of the log's list, so that all nodes make the same signatures. */
    signing: readonly SigningKey[]
    signer: Signer
  }>

/**
 * Opens the current signing keys. Throws a StoreError when this node lacks one of them, because its signatures would
 * differ from those of other nodes.
 */
export function openRowKeys(db: DatabaseSync, own: readonly SigningKey[]): RowKeys {
  return rowKeysOf(readIdentity(db).origin, signingVkeys(db), own)
}

/** Opens the keys of the log with this origin and these vkeys. Throws a StoreError when one of them is not given. */
export function rowKeysOf(origin: string, vkeys: readonly string[], own: readonly SigningKey[]): RowKeys {
  const known = new Map(own.map((key) => [formatVkey(verifierKeyOf(origin, key.publicKey)), key]))
  const signing = vkeys.map((vkey) => {
    const key = known.get(vkey)
    if (key === undefined) {
      throw new StoreError(
        `the log is signed with ${vkey}: give the file of that key with --signing-key-file`,
      )
    }
    return key
  })
  if (signing.length === 0) throw new StoreError('the log lists no key that signs it now')
  const verifier = openRowVerifier(signing.map(({ publicKey }) => verifierKeyOf(origin, publicKey)))
  return { ...verifier, signing, signer: openSigner(origin, signing) }
}

/** Vkeys in a list that sign the log with this origin now. */
export function vkeysSigning(origin: string, keys: readonly ListedKey[]): readonly string[] {
  return keys.flatMap(({ vkey, toSize }) => (toSize === null && vkey.startsWith(`${origin}+`) ? [vkey] : []))
}
