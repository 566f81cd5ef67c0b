import type { DatabaseSync } from 'node:sqlite'
import type { ListedKey } from '../../log/store/reader.ts'
import { readIdentity } from '../../log/store/store.ts'
import type { SigningKey } from '../../log/tree/signer.ts'
import { listKeys, readKeys, replaceKeys } from '../../log/tree/signing-keys.ts'
import type { RowBody } from '../row/log-row.ts'
import { openRowKeys } from '../row/row-keys.ts'
import { UnfitRow } from './followed-row.ts'

/**
 * A step of the operator, in a row of its own.
 *
 * - `keys`: these keys sign the log from now on. Every node must have them before.
 * - `end`: the log leaves the table. Nothing is appended after it. The nonce has 32 random bytes.
 */
export type RowStep =
  | Readonly<{ is: 'keys'; keys: readonly SigningKey[] }>
  | Readonly<{ is: 'end'; nonce: Uint8Array }>

/** Content of the row of a step. */
export type StepRow = Extract<RowBody, { is: 'keys' | 'end' }>

/** The log as a step finds it. */
type PresentEnd = Readonly<{ head: number; root: Uint8Array }>

/** Row content of a step, in the caller's transaction. Throws a StoreError for keys that it must not use. */
export function rowOfStep(
  db: DatabaseSync,
  step: RowStep,
  own: readonly SigningKey[],
  { head, root }: PresentEnd,
): StepRow {
  if (step.is === 'end') return { is: 'end', head, root, nonce: step.nonce }
  listKeys(db, { origin: readIdentity(db).origin, size: head, keys: step.keys, acceptNewKey: false })
  // Without one of the keys this node could not commit its own row.
  openRowKeys(db, own)
  return { is: 'keys', head, keys: readKeys(db) }
}

/** Applies the row of a step, in the caller's transaction. Throws an `UnfitRow`. */
export function applyStepRow(db: DatabaseSync, row: StepRow, { head, root }: PresentEnd): void {
  switch (row.is) {
    case 'keys':
      if (row.head !== head) throw new UnfitRow(`it changes the keys at seq ${row.head} instead of ${head}`)
      refuseOtherKeys(readKeys(db), row.keys)
      return replaceKeys(db, row.keys)
    case 'end':
      if (row.head !== head || Buffer.compare(row.root, root) !== 0)
        throw new UnfitRow(`it ends another log than this one at seq ${head}`)
  }
}

/** Refuses a list of keys that lacks a key of the log, or has another start for one. */
function refuseOtherKeys(known: readonly ListedKey[], next: readonly ListedKey[]): void {
  for (const { vkey, fromSize, statement } of known) {
    const same = next.find((key) => key.vkey === vkey)
    if (same?.fromSize !== fromSize || same.statement !== statement) {
      throw new UnfitRow('its list of keys contradicts that of this log')
    }
  }
}
