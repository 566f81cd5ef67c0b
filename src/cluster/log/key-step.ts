import type { DatabaseSync } from 'node:sqlite'
import { readIdentity } from '../../log/store/store.ts'
import { type SigningKey, verifierKeyOf } from '../../log/tree/signer.ts'
import { SIGNING_KEYS_MAX, signingVkeys } from '../../log/tree/signing-keys.ts'
import { requestRefusal } from '../../publish/admission/outcome.ts'
import type { CommitPath } from '../../publish/commit-path.ts'
import { type Answered, type PermittedRequest, readJsonBody } from '../../publish/api/publish-replies.ts'
import { formatVkey } from '../../tlog/note.ts'
import type { TableBook } from '../book/table-book.ts'

/** Path of the step on the private listener. */
export const KEYS_PATH = '/cluster/keys'

/** Bytes of the largest list of keys. */
const KEYS_BYTES_MAX = 4096

type KeyParts = Readonly<{
  db: DatabaseSync
  book: TableBook
  path: CommitPath
  /** All keys of this node. */
  keys: readonly SigningKey[]
}>

/**
 * Answers an operator's change of the signing keys, on all nodes at once. Before it, the operator must put the files of
 * the new keys on all nodes. Refuses keys that this node lacks, and keys of which none signs the log already. A
 * repeated call changes nothing.
 */
export async function keysRequest(parts: KeyParts, request: PermittedRequest): Promise<Answered> {
  const body = await readJsonBody(request, 'a list of keys', KEYS_BYTES_MAX)
  if (!body.ok) return body
  const { vkeys, ...others } = body.value
  if (Object.keys(others).length > 0)
    return requestRefusal('unknown-parameter', 'a change of keys has the key vkeys')
  const isList = Array.isArray(vkeys) && vkeys.length >= 1 && vkeys.length <= SIGNING_KEYS_MAX
  if (!isList || !vkeys.every((vkey) => typeof vkey === 'string') || new Set(vkeys).size < vkeys.length) {
    return {
      ...requestRefusal('invalid-parameter', `must be a list of 1 to ${SIGNING_KEYS_MAX} different vkeys`),
      field: 'vkeys',
    }
  }
  return await changeKeys(parts, vkeys)
}

async function changeKeys(
  { db, book, path, keys: all }: KeyParts,
  vkeys: readonly string[],
): Promise<Answered> {
  const { origin } = readIdentity(db)
  const own = all.map(({ publicKey }) => formatVkey(verifierKeyOf(origin, publicKey)))
  const missing = vkeys.findIndex((vkey) => !own.includes(vkey))
  if (missing >= 0) {
    const reason = 'this node does not hold the key: restart all nodes with its file in --signing-key-file'
    return { ...requestRefusal('wrong-state', reason), field: `vkeys[${missing}]` }
  }
  const keys = all.filter((_key, index) => vkeys.includes(own[index] ?? ''))
  let refusal: string | null = null
  const end = await path.commit(0, () => {
    const present = signingVkeys(db)
    refusal = present.some((vkey) => vkeys.includes(vkey)) ? null : NO_VOUCHER
    const isSame = present.length === vkeys.length && present.every((vkey) => vkeys.includes(vkey))
    if (refusal === null && !isSame) book.build({ is: 'keys', keys })
  })
  if (!end.ok) return end
  if (refusal !== null) return requestRefusal('wrong-state', refusal)
  return { ok: true, answer: { vkeys: signingVkeys(db), head: book.appender.head().seq } }
}

const NO_VOUCHER =
  'none of the keys signs the log: give a key that signs it and the new one, and leave the old one out later'
