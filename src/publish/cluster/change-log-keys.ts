import type { DatabaseSync } from 'node:sqlite'
import { readIdentity } from '../../log/store/store.ts'
import { vkeysOf } from '../../log/tree/served-tree.ts'
import type { SigningKey } from '../../log/tree/signer.ts'
import { signingVkeys } from '../../log/tree/signing-keys.ts'
import type { FailedOutcome } from '../admission/outcome.ts'
import type { StepParts } from './commit-step.ts'
import { commitStep, stepRefused, writersRefusal } from './commit-step.ts'

type KeyParts = StepParts &
  Readonly<{
    db: DatabaseSync
    /** All keys of this node. */
    keys: readonly SigningKey[]
  }>

/** The keys that sign the log now, and the size of the tree from which on they do. */
type ChangedKeys = Readonly<{ ok: true; vkeys: readonly string[]; head: number }>

/**
 * Makes the keys with these vkeys the ones that sign the log, on all writers at once. Refuses while a writer has not
 * shown that it holds them, and when none of them signs the log already. A repeated call changes nothing.
 */
export async function changeLogKeys(
  parts: KeyParts,
  vkeys: readonly string[],
): Promise<ChangedKeys | FailedOutcome> {
  const { db, book } = parts
  const own = vkeysOf(readIdentity(db).origin, parts.keys)
  const missing = vkeys.findIndex((vkey) => !own.includes(vkey))
  if (missing >= 0) {
    return {
      ...stepRefused('this node does not hold the key: restart it with its file in --signing-key-file'),
      field: `vkeys[${missing}]`,
    }
  }
  const keys = parts.keys.filter((_key, index) => vkeys.includes(own[index] ?? ''))
  const lacks = (held: readonly string[]): string | null =>
    vkeys.every((vkey) => held.includes(vkey))
      ? null
      : 'has not shown that it holds the key: restart it with the file in --signing-key-file'
  const unready = writersRefusal(parts, (mark) => lacks(mark.keys))
  if (unready !== null) return stepRefused(unready)
  let refusal: string | null = null
  const end = await commitStep(parts, () => {
    const present = signingVkeys(db)
    refusal = present.some((vkey) => vkeys.includes(vkey)) ? null : NO_VOUCHER
    const isSame = present.length === vkeys.length && present.every((vkey) => vkeys.includes(vkey))
    if (refusal === null && !isSame) book.build({ is: 'keys', keys })
  })
  if (end.is === 'failed') return end.outcome
  if (refusal !== null) return stepRefused(refusal)
  return { ok: true, vkeys: signingVkeys(db), head: book.appender.head().seq }
}

const NO_VOUCHER =
  'none of the keys signs the log: give a key that signs it and the new one, and leave the old one out later'
