import type { DatabaseSync } from 'node:sqlite'
import { createStore, readIdentity, StoreError } from '../../log/store/store.ts'
import { signNewest } from '../../log/tree/ready-log.ts'
import type { SigningKey } from '../../log/tree/signer.ts'
import { readKeys, replaceKeys } from '../../log/tree/signing-keys.ts'
import { HASH_BYTES } from '../../tlog/hash.ts'
import { openKeptRows, writeTablePlace } from './kept-rows.ts'
import { type BeginRow, refusalOfRow, ROW_VERSION } from './log-row.ts'
import { decodeRow, digestOfRow } from './row-frame.ts'
import { openRowKeys, rowKeysOf, vkeysSigning } from './row-keys.ts'

const FIRST_PLACE = 1

/** Content of the first row of a store's log: its identity and keys, without its events. */
export function beginOf(db: DatabaseSync): BeginRow {
  return { is: 'begin', identity: readIdentity(db), keys: readKeys(db) }
}

/**
 * Creates the empty store of a joining node from the row at place 1. Throws a StoreError when the bytes are no such
 * row, or when the log is not signed with these keys.
 */
export function createStoreFromRow(path: string, bytes: Uint8Array, own: readonly SigningKey[]): void {
  const { identity, keys } = readBegin(bytes, own)
  createStore(path, identity, identity, (db) => {
    replaceKeys(db, keys)
    // The keys sign in the order of the log's list, so that every node has the same signature.
    signNewest(db, openRowKeys(db, own).signing)
    openKeptRows(db).add({ place: FIRST_PLACE, bytes })
    writeTablePlace(db, { place: FIRST_PLACE, digest: digestOfRow(bytes) })
  })
}

/** The first row of a log that these keys sign. */
function readBegin(bytes: Uint8Array, own: readonly SigningKey[]): BeginRow {
  const decoded = decodeRow(bytes)
  if (!decoded.ok) throw new StoreError(`the first row of the table cannot be read: ${decoded.reason}`)
  const { row } = decoded.signed
  if (row.is !== 'begin') throw new StoreError('the first row of the table does not begin a log')
  const { id, origin } = row.identity
  const want = { v: ROW_VERSION, logId: id, place: FIRST_PLACE, prev: new Uint8Array(HASH_BYTES) } as const
  const refusal =
    refusalOfRow(row, FIRST_PLACE, want) ??
    rowKeysOf(origin, vkeysSigning(origin, row.keys), own).refusalOf(decoded.signed)
  if (refusal !== null) throw new StoreError(`the first row of the table is foreign: ${refusal}`)
  return row
}
