import type { DatabaseSync } from 'node:sqlite'
import { base64 } from '@scure/base'
import { readCheckpoint } from '../../tlog/checkpoint.ts'
import { carriedPlace, refuseCarriedLog } from './carried-place.ts'
import { type HighWater, markHighWater, readHighWater } from '../store/high-water.ts'
import { refuseMirror } from '../store/mirror-meta.ts'
import { faultAtStart, headOf } from './log-fault.ts'
import type { FormerLog, LogIdentity } from '../store/reader.ts'
import { noteOf, openSigner, type SigningKey } from './signer.ts'
import { listKeys } from './signing-keys.ts'
import {
  createStore,
  hasStore,
  type NewLog,
  newLogId,
  openForWriting,
  readIdentity,
  StoreError,
  storePath,
  writeIdentity,
} from '../store/store.ts'
import { openStoredTree } from './stored-tree.ts'
import { inTransaction } from '../store/in-transaction.ts'

/** Keys that sign a log from now on, and the losses that its operator accepts. */
export type Signing = Readonly<{
  keys: readonly SigningKey[]
  /** Accepts keys that never signed this log, because the former key is lost. */
  acceptNewKey: boolean
  /** Accepts a store that lacks published events: begins a new log with the remaining ones. */
  acceptLoss: boolean
}>

/**
 * Prepares the log of a data directory for its writer: creates a missing log, checks it, and lists the keys that will
 * sign. Throws a StoreError that says what is wrong; then nothing has changed.
 */
export function readyLog(dataDirectory: string, newLog: NewLog, signing: Signing): void {
  const isNew = !hasStore(dataDirectory)
  if (isNew) createLog(dataDirectory, newLog, signing.acceptLoss)
  using db = openForWriting(storePath(dataDirectory))
  const mark = readHighWater(dataDirectory)
  refuseCarriedLog(db)
  refuseMirror(db)
  if (!isNew) proveLog(db, mark, signing)
  changeKeys(db, signing)
  markHighWater(dataDirectory, newestCheckpoint(db))
}

/** Creates the first log of a directory, or a new one if the store is lost and the loss is accepted. */
function createLog(dataDirectory: string, newLog: NewLog, acceptLoss: boolean): void {
  const mark = refuseLostStore(dataDirectory, acceptLoss)
  if (mark === null && acceptLoss) throw new StoreError(NOTHING_LOST)
  const lost = mark === null ? [] : [formerOf(mark, 0)]
  const begun = { id: newLogId(), former: lost }
  const origin = mark === null ? newLog.origin : originAfter(nameOfMark(mark), begun.id)
  createStore(storePath(dataDirectory), { ...newLog, origin }, begun)
}

/** High-water mark of a log whose store is lost; null if there is none. Throws unless the loss is accepted. */
export function refuseLostStore(dataDirectory: string, acceptLoss: boolean): HighWater | null {
  const mark = readHighWater(dataDirectory)
  if (acceptLoss || mark === null) return mark
  throw new StoreError(
    'the store is gone, and a log was published from it: restore its newest backup, or use --accept-loss',
  )
}

/** Throws a StoreError when the log has a fault. An accepted loss begins a new log instead. */
export function proveLog(db: DatabaseSync, mark: HighWater | null, signing: Signing): void {
  const { acceptLoss, keys } = signing
  const fault = faultAtStart(db, mark, keys)
  if (fault === null) {
    if (acceptLoss) throw new StoreError(NOTHING_LOST)
    return
  }
  if (!fault.lost) throw new StoreError(`seq ${fault.seq}: ${fault.reason}`)
  if (!acceptLoss) {
    throw new StoreError(
      `seq ${fault.seq}: ${fault.reason}. Restore the newest backup; --accept-loss gives up the missing events and begins a new log`,
    )
  }
  inTransaction(db, () => beginNewLog(db, mark, keys))
}

const NOTHING_LOST = '--accept-loss: this log has lost nothing; start without this option'

/** Lists the keys. Signs the newest tree again when they have changed. */
export function changeKeys(db: DatabaseSync, { keys, acceptNewKey }: Omit<Signing, 'acceptLoss'>): void {
  inTransaction(db, () => {
    const { origin } = readIdentity(db)
    if (listKeys(db, { origin, size: headOf(db), keys, acceptNewKey })) signNewest(db, keys)
  })
}

/** The newest signed tree of a log, in the form of its high-water mark. */
export function newestCheckpoint(db: DatabaseSync): HighWater {
  const { id, origin, former } = readIdentity(db)
  const size = headOf(db)
  const place = carriedPlace(db)
  return {
    log: id,
    checkpoint: noteOf(origin, openStoredTree(db).at(size), openSignatures(db)(size)),
    former,
    ...(place !== null && { place }),
  }
}

/**
 * Stored signature of the newest tree, which has `size` leaves. It is a text for the empty tree, otherwise bytes, or
 * undefined.
 */
export function storedSignature(db: DatabaseSync, size: number): unknown {
  return openStoredSignatures(db)(size)
}

function openStoredSignatures(db: DatabaseSync): (size: number) => unknown {
  const ofEmpty = db.prepare("SELECT value FROM meta WHERE key = 'empty_signature'")
  const ofEvent = db.prepare('SELECT signature FROM events WHERE seq = ?')
  return (size) => (size === 0 ? ofEmpty.get()?.['value'] : ofEvent.get(size)?.['signature'])
}

/** Reads signatures of the newest tree, which has `size` leaves. */
export function openSignatures(db: DatabaseSync): (size: number) => Uint8Array {
  const stored = openStoredSignatures(db)
  return (size) => {
    const signature = stored(size)
    if (typeof signature === 'string') return base64.decode(signature)
    if (signature instanceof Uint8Array) return signature
    throw new StoreError('the newest tree of the log is not signed')
  }
}

/**
 * Begins a new log with the remaining events, in the caller's transaction. The new log gets another origin, because a
 * tree that contradicts a signed one under the same origin is a fork.
 */
export function beginNewLog(db: DatabaseSync, mark: HighWater | null, keys: readonly SigningKey[]): void {
  const identity = readIdentity(db)
  const size = headOf(db)
  const id = newLogId()
  const former = [...identity.former, { id: identity.id, origin: identity.origin, size }]
  // The store is a copy of the log before the marked one, which is then lost too.
  const shared = mark?.former.find((log) => log.id === identity.id)
  if (mark !== null && shared !== undefined) former.push(formerOf(mark, Math.min(size, shared.size)))
  const begun: LogIdentity = { ...identity, id, origin: originAfter(nameOfLog(identity), id), former }
  writeIdentity(db, begun)
  listKeys(db, { origin: begun.origin, size, keys, acceptNewKey: true })
  signNewest(db, keys)
}

/** Log of a mark as a former log with `size` remaining events. */
function formerOf({ log, checkpoint }: HighWater, size: number): FormerLog {
  const read = readCheckpoint(Buffer.from(checkpoint))
  if (!read.ok) throw new StoreError('the high-water mark beside the store holds no checkpoint')
  return { id: log, origin: read.value.checkpoint.origin, size }
}

/** Hex digits of the log id at the end of the origin of a log that continues another. */
const ORIGIN_DIGITS = 8

/** First origin of the log, without the suffix that it has after a loss. */
export function nameOfLog({
  origin,
  former,
}: Pick<LogIdentity, 'origin'> & Readonly<{ former: readonly unknown[] }>): string {
  return former.length === 0 ? origin : origin.slice(0, -(ORIGIN_DIGITS + 1))
}

function nameOfMark(mark: HighWater): string {
  return nameOfLog({ origin: formerOf(mark, 0).origin, former: mark.former })
}

/** Origin of a log that continues one of this name. */
function originAfter(name: string, id: string): string {
  return `${name}/${id.slice(0, ORIGIN_DIGITS)}`
}

/** Signs the newest tree with these keys, in the caller's transaction. */
export function signNewest(db: DatabaseSync, keys: readonly SigningKey[]): void {
  const size = headOf(db)
  const { signature } = openSigner(readIdentity(db).origin, keys).sign(openStoredTree(db).at(size))
  if (size > 0) db.prepare('UPDATE events SET signature = ? WHERE seq = ?').run(signature, size)
  else db.prepare("INSERT OR REPLACE INTO meta VALUES ('empty_signature', ?)").run(base64.encode(signature))
}
