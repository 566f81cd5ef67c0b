import { sign } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import { assert } from '../../protocol/brand.ts'
import { rotationText, verifyKeyChain } from '../../tlog/key-chain.ts'
import { formatNote, formatVkey, parseVkey, signText, type VerifierKey } from '../../tlog/note.ts'
import { number, type Row, text } from '../store/codec.ts'
import type { ListedKey } from '../store/reader.ts'
import { sha256, type SigningKey, verifierKeyOf, verifyRawEd25519 } from './signer.ts'
import { readIdentity, StoreError } from '../store/store.ts'

/** Most keys that sign a log at the same time: two during a key rotation. */
export const SIGNING_KEYS_MAX = 2

/** All keys that sign or have signed this log, the oldest first. */
export function readKeys(db: DatabaseSync): readonly ListedKey[] {
  const rows = db.prepare('SELECT vkey, from_size, to_size, statement FROM signing_keys').all()
  return rows.map(listedKey).toSorted((a, b) => a.fromSize - b.fromSize || (a.vkey < b.vkey ? -1 : 1))
}

/** Vkeys of the keys that sign the log now, in the order of its list. */
export function signingVkeys(db: DatabaseSync): readonly string[] {
  const { origin } = readIdentity(db)
  return readKeys(db).flatMap(({ vkey, toSize }) =>
    toSize === null && vkey.startsWith(`${origin}+`) ? [vkey] : [],
  )
}

/** Listed keys as verifier keys. Throws a StoreError on a malformed vkey. */
export function readVerifiers(db: DatabaseSync): readonly VerifierKey[] {
  return readKeys(db).map(verifierOf)
}

function verifierOf({ vkey }: ListedKey): VerifierKey {
  const key = parseVkey(sha256, vkey)
  if (key === undefined) throw new StoreError('the store lists a signing key that is not well formed')
  return key
}

/** Verifier keys of the given keys that the log lists as signing now. */
export function signingVerifiers(
  db: DatabaseSync,
  keys: readonly SigningKey[],
): readonly Readonly<{ verifier: VerifierKey; fromSize: number }>[] {
  const { origin } = readIdentity(db)
  const present = new Map(readKeys(db).map((key) => [key.vkey, key]))
  return keys.flatMap(({ publicKey }) => {
    const verifier = verifierKeyOf(origin, publicKey)
    const listed = present.get(formatVkey(verifier))
    return listed?.toSize === null ? [{ verifier, fromSize: listed.fromSize }] : []
  })
}

/**
 * Keys that sign the log now and for which a given key vouches in signed statements, directly or through other keys.
 */
export async function vouchedVerifiers(
  db: DatabaseSync,
  keys: readonly SigningKey[],
): Promise<readonly VerifierKey[]> {
  const { origin } = readIdentity(db)
  const trusted = keys.map(({ publicKey }) => verifierKeyOf(origin, publicKey))
  const listed = readKeys(db).map((one) => ({ ...one, key: verifierOf(one) }))
  const vouched = await verifyKeyChain(trusted, listed, verifyRawEd25519)
  return vouched.flatMap(({ key, toSize }) => (toSize === null ? [key] : []))
}

type KeyChange = Readonly<{
  origin: string
  /** Current size of the log. Larger trees are signed with these keys. */
  size: number
  keys: readonly SigningKey[]
  /** Accepts keys even when none of them signs the log now, because the former key is lost. */
  acceptNewKey: boolean
}>

/**
 * Makes `keys` the signing keys of the log, and retires all others. An already signing key vouches for each new one in
 * a signed statement. If none of the given keys signs already, throws a StoreError, unless the log has no keys or
 * `acceptNewKey` is true. Must be called in a transaction. Returns whether the signing keys have changed.
 */
export function listKeys(db: DatabaseSync, { origin, size, keys, acceptNewKey }: KeyChange): boolean {
  assert(keys.length >= 1 && keys.length <= SIGNING_KEYS_MAX, 'a log is signed with one key or two')
  const listed = new Map(readKeys(db).map((key) => [key.vkey, key]))
  const given = keys.map((key) => ({ ...key, verifier: verifierKeyOf(origin, key.publicKey) }))
  const voucher = given.find(({ verifier }) => listed.get(formatVkey(verifier))?.toSize === null)
  const ofThisLog = [...listed.keys()].filter((vkey) => vkey.startsWith(`${origin}+`))
  if (ofThisLog.length > 0 && voucher === undefined && !acceptNewKey) {
    throw new StoreError(
      'this log is signed with another key: give that key too, or, if that key is lost, use --accept-new-key',
    )
  }
  const insert = db.prepare('INSERT INTO signing_keys (vkey, from_size, statement) VALUES (?, ?, ?)')
  const retire = db.prepare('UPDATE signing_keys SET to_size = ? WHERE vkey = ? AND to_size IS NULL')
  const resume = db.prepare('UPDATE signing_keys SET to_size = NULL WHERE vkey = ?')
  const present = new Map(given.map(({ verifier }) => [formatVkey(verifier), verifier]))
  let changes = 0
  for (const [vkey, verifier] of present) {
    const known = listed.get(vkey)
    if (known?.toSize === null) continue
    changes += 1
    if (known === undefined) {
      insert.run(vkey, size, voucher === undefined ? null : statementOf(voucher, size, verifier))
    } else resume.run(vkey)
  }
  for (const vkey of listed.keys()) if (!present.has(vkey)) changes += Number(retire.run(size, vkey).changes)
  return changes > 0
}

/** Replaces the log's list of keys, in the caller's transaction. */
export function replaceKeys(db: DatabaseSync, keys: readonly ListedKey[]): void {
  db.exec('DELETE FROM signing_keys')
  const insert = db.prepare(
    'INSERT INTO signing_keys (vkey, from_size, to_size, statement) VALUES (?, ?, ?, ?)',
  )
  for (const { vkey, fromSize, toSize, statement } of keys) insert.run(vkey, fromSize, toSize, statement)
}

/** Signed note in which an older key of the log vouches for a new one. */
function statementOf(
  voucher: SigningKey & Readonly<{ verifier: VerifierKey }>,
  fromSize: number,
  newKey: VerifierKey,
): string {
  const statement = rotationText(newKey, fromSize)
  const signature = signText(voucher.verifier, (bytes) => sign(null, bytes, voucher.privateKey), statement)
  return formatNote({ text: statement, signatures: [signature] })
}

/** Fault text when no older listed key has signed the statement of a key; null when all statements are valid. */
export async function faultOfKeys(db: DatabaseSync): Promise<string | null> {
  const keys = readKeys(db).map((listed) => ({ ...listed, key: verifierOf(listed) }))
  const firstKeys = keys.filter(({ statement }) => statement === null).map(({ key }) => key)
  const stated = keys.filter(({ statement }) => statement !== null)
  const found = await verifyKeyChain(firstKeys, stated, verifyRawEd25519)
  return found.length === stated.length
    ? null
    : 'signing_keys: a key is listed with a statement that no older key has signed'
}

function listedKey(row: Row): ListedKey {
  return {
    vkey: text(row, 'vkey'),
    fromSize: number(row, 'from_size'),
    toSize: row['to_size'] === null ? null : number(row, 'to_size'),
    statement: row['statement'] === null ? null : text(row, 'statement'),
  }
}
