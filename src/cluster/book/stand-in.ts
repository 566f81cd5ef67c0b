import type { DatabaseSync } from 'node:sqlite'
import { base64 } from '@scure/base'
import { text } from '../../log/store/codec.ts'
import { readIdentity, StoreError } from '../../log/store/store.ts'
import { headOf } from '../../log/tree/log-fault.ts'
import { signNewest, storedSignature } from '../../log/tree/ready-log.ts'
import { isMadeWith, type SigningKey, verifierKeyOf } from '../../log/tree/signer.ts'

/**
 * Signature of the newest tree while the store ends in the middle of moved history. The log has none there, or one of a
 * former key, and every store must end with a signed tree: readers, audits and a start need it. The next transaction
 * puts back what the log has. The tree was accepted by the table, and is a prefix of the log, so it may be signed.
 */
export type StandIn = Readonly<{
  /** Signs the newest tree, unless these keys have signed it. */
  put(keys: readonly SigningKey[]): void
  /** Puts the signature of the log back. Begins a transaction that changes anything. */
  remove(): void
  /** Reads again, after a rollback. */
  reload(): void
}>

/** Row of `meta` with the seq and the signature (base64, empty for none) that the log has there. */
const ROW = 'moved_signature'
const FORM = /^([1-9]\d{0,15}) ([A-Za-z0-9+/=]*)$/

/** The signature that the log has at a seq. */
type Replaced = Readonly<{ seq: number; signature: Uint8Array | null }>

/** Opens the signature of a store. Its changes belong to the caller's transaction. */
export function openStandIn(db: DatabaseSync): StandIn {
  const update = db.prepare('UPDATE events SET signature = ? WHERE seq = ?')
  const { origin } = readIdentity(db)
  let replaced = readReplaced(db)

  return {
    put(keys) {
      const seq = headOf(db)
      if (seq === 0) return
      const stored = storedSignature(db, seq)
      const signature = stored instanceof Uint8Array ? stored : null
      const own = keys.map(({ publicKey }) => verifierKeyOf(origin, publicKey))
      if (signature !== null && isMadeWith(signature, own)) return
      replaced = { seq, signature }
      const value = `${seq} ${signature === null ? '' : base64.encode(signature)}`
      db.prepare('INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)').run(ROW, value)
      signNewest(db, keys)
    },
    remove() {
      if (replaced === null) return
      update.run(replaced.signature, replaced.seq)
      db.prepare('DELETE FROM meta WHERE key = ?').run(ROW)
      replaced = null
    },
    reload: () => void (replaced = readReplaced(db)),
  }
}

function readReplaced(db: DatabaseSync): Replaced | null {
  const row = db.prepare('SELECT value FROM meta WHERE key = ?').get(ROW)
  if (row === undefined) return null
  const [, seq, signature] = FORM.exec(text(row, 'value')) ?? []
  if (seq === undefined || signature === undefined)
    throw new StoreError(`the row ${ROW} of the store is damaged: restore the newest backup`)
  return { seq: Number(seq), signature: signature === '' ? null : base64.decode(signature) }
}
