import type { DatabaseSync } from 'node:sqlite'
import { isDeepStrictEqual } from 'node:util'
import { isSame } from '../../tlog/hash.ts'
import { formatVkey } from '../../tlog/vkey.ts'
import { createStore, readIdentity, StoreError, writeIdentity } from '../store/store.ts'
import { headOf } from '../tree/log-fault.ts'
import { signNewest } from '../tree/ready-log.ts'
import type { SigningKey } from '../tree/signer.ts'
import { verifierKeyOf } from '../tree/signer.ts'
import { readKeys, replaceKeys } from '../tree/signing-keys.ts'
import { openStoredTree } from '../tree/stored-tree.ts'
import { openKeptMessages } from '../stream/kept-messages.ts'
import type { Message } from './message.ts'
import { decodeMessage, digestOfMessage } from './message-frame.ts'
import { openNodeVerifier } from './node-key.ts'
import { writePosition } from '../stream/engine-position.ts'
import { writeBeginning } from '../stream/stream-beginning.ts'

type Genesis = Extract<Message, { is: 'genesis' }>

/** Content of the first message of a stream: the log of a store as it is now. */
export function genesisOf(
  db: DatabaseSync,
): Pick<Genesis, 'is' | 'identity' | 'keys' | 'head' | 'root' | 'moving'> {
  const head = headOf(db)
  const { root } = openStoredTree(db).at(head)
  return { is: 'genesis', identity: readIdentity(db), keys: readKeys(db), head, root, moving: false }
}

/** Whether a first message is of the log of a store as it is now. */
export function isGenesisOf(
  db: DatabaseSync,
  { identity, keys, head, root }: Pick<Genesis, 'identity' | 'keys' | 'head' | 'root'>,
): boolean {
  const own = genesisOf(db)
  return (
    isDeepStrictEqual([identity, keys, head], [own.identity, own.keys, own.head]) && isSame(root, own.root)
  )
}

/**
 * Puts the log of a store at the beginning of a stream, in the caller's transaction. Throws a StoreError unless the bytes
 * are the first message of a stream of this very log.
 */
export function beginStream(db: DatabaseSync, bytes: Uint8Array, own: readonly SigningKey[]): void {
  const genesis = readGenesis(bytes, own)
  if (!isGenesisOf(db, genesis)) {
    throw new StoreError(`the stream begins with another log than that of this store at seq ${headOf(db)}`)
  }
  // The keys sign in the order of the list, so that the store of a node that joins has the same signature.
  if (genesis.head === 0) signNewest(db, signingKeys(db, genesis, own))
  noteGenesis(db, genesis, bytes)
}

/**
 * Goes on with the log that has adopted the branch of this store after a fork, in the caller's transaction. Throws a
 * StoreError unless the bytes are the first message of a log that continues this very one at its present end.
 */
export function beginAdopted(db: DatabaseSync, bytes: Uint8Array, own: readonly SigningKey[]): void {
  const genesis = readGenesis(bytes, own)
  const { identity, keys } = genesis
  const { id } = readIdentity(db)
  const size = headOf(db)
  const isAfter = identity.former.some((log) => log.id === id && log.size === size)
  if (!isAfter || genesis.head !== size || !isSame(genesis.root, openStoredTree(db).at(size).root)) {
    throw new StoreError(`the stream begins with a log that does not continue this store at seq ${size}`)
  }
  writeIdentity(db, identity)
  replaceKeys(db, keys)
  signNewest(db, signingKeys(db, genesis, own))
  noteGenesis(db, genesis, bytes)
}

/**
 * Creates the empty store of a node that joins at the first message of a stream. Throws a StoreError when the stream
 * begins with events, or when its log is not signed with these keys.
 */
export function createStoreFrom(path: string, bytes: Uint8Array, own: readonly SigningKey[]): void {
  const genesis = readGenesis(bytes, own)
  if (genesis.head > 0) {
    throw new StoreError(
      `the stream begins at seq ${genesis.head}: start this node from a backup of another one (daybook restore)`,
    )
  }
  const { identity, keys } = genesis
  createStore(path, identity, identity, (db) => {
    replaceKeys(db, keys)
    signNewest(db, signingKeys(db, genesis, own))
    noteGenesis(db, genesis, bytes)
  })
}

/** The keys that sign the log, in the order of its list. */
function signingKeys(db: DatabaseSync, genesis: Genesis, own: readonly SigningKey[]): readonly SigningKey[] {
  const keys = new Map(own.map((key) => [vkeyOf(genesis, key), key]))
  return readKeys(db).flatMap(({ vkey, toSize }) => (toSize === null ? (keys.get(vkey) ?? []) : []))
}

function noteGenesis(db: DatabaseSync, { stream, place }: Genesis, bytes: Uint8Array): void {
  openKeptMessages(db).clear()
  openKeptMessages(db).add({ place, bytes })
  const digest = digestOfMessage(bytes)
  writePosition(db, { stream, place, digest })
  writeBeginning(db, digest)
}

/** The first message of a stream, which a node of a log with these keys has signed. */
function readGenesis(bytes: Uint8Array, own: readonly SigningKey[]): Genesis {
  const decoded = decodeMessage(bytes)
  if (!decoded.ok) throw new StoreError(`the first message of the stream cannot be read: ${decoded.reason}`)
  const { message } = decoded.signed
  if (message.is !== 'genesis' || message.place !== 1) {
    throw new StoreError('the stream does not begin with the first message of a log')
  }
  const listed = new Set(message.keys.flatMap(({ vkey, toSize }) => (toSize === null ? [vkey] : [])))
  const signing = own.filter((key) => listed.has(vkeyOf(message, key)))
  if (signing.length < listed.size) {
    throw new StoreError('the log of the stream is signed with another key: give it with --signing-key-file')
  }
  const verifiers = signing.map(({ publicKey }) => verifierKeyOf(message.identity.origin, publicKey))
  const refusal = openNodeVerifier(message.logId, verifiers).refusalOf(decoded.signed)
  if (refusal !== null) throw new StoreError(`the first message of the stream is foreign: ${refusal}`)
  return message
}

function vkeyOf({ identity }: Genesis, { publicKey }: SigningKey): string {
  return formatVkey(verifierKeyOf(identity.origin, publicKey))
}
