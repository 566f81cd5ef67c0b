import type { DatabaseSync } from 'node:sqlite'
import { base64 } from '@scure/base'
import { readCheckpoint } from '../../tlog/checkpoint.ts'
import type { HighWater } from '../store/high-water.ts'
import { markHighWater, readHighWater } from '../store/high-water.ts'
import { faultAtStart, headOf } from './log-fault.ts'
import type { FormerLog, LogIdentity } from '../store/reader.ts'
import type { SigningKey } from './signer.ts'
import { noteOf, openSigner } from './signer.ts'
import { listKeys } from './signing-keys.ts'
import {
  createStore,
  hasStore,
  newLogId,
  openForWriting,
  readIdentity,
  storePath,
  StoreError,
  writeIdentity,
} from '../store/store.ts'
import type { NewLog } from '../store/store.ts'
import { openStoredTree } from './stored-tree.ts'

/** Who signs a log from now on, and what of it its operator has said to accept. */
export type Signing = Readonly<{
  keys: readonly SigningKey[]
  /** The keys may be such as never signed this log: the former one is lost. */
  acceptNewKey: boolean
  /** The store is older than what was published: what is missing is given up, and a new log begins with the rest. */
  acceptLoss: boolean
}>

/**
 * Makes the log of a data directory ready for its writer: creates it where there is none, proves what a start must
 * prove, lists the keys that will sign. Throws a StoreError that says what is wrong; then nothing was changed.
 */
export function readyLog(dataDirectory: string, newLog: NewLog, signing: Signing): void {
  const isNew = !hasStore(dataDirectory)
  if (isNew) createLog(dataDirectory, newLog, signing.acceptLoss)
  const db = openForWriting(storePath(dataDirectory))
  try {
    const mark = readHighWater(dataDirectory)
    if (!isNew) proveLog(db, mark, signing)
    takeKeys(db, signing)
    markHighWater(dataDirectory, newestCheckpoint(db))
  } finally {
    db.close()
  }
}

/** Creates a log: a first one, or one that begins anew when the store is gone and that is accepted. */
function createLog(dataDirectory: string, newLog: NewLog, acceptLoss: boolean): void {
  const mark = refuseLostStore(dataDirectory, acceptLoss)
  if (mark === null && acceptLoss) throw new StoreError(NOTHING_LOST)
  const lost = mark === null ? [] : [formerOf(mark, 0)]
  const begun = { id: newLogId(), former: lost }
  const origin = mark === null ? newLog.origin : originAfter(nameOfMark(mark), begun.id)
  createStore(storePath(dataDirectory), { ...newLog, origin }, begun)
}

/** Throws when a log was published from this directory and its store is gone; gives its mark when that is accepted. */
export function refuseLostStore(dataDirectory: string, acceptLoss: boolean): HighWater | null {
  const mark = readHighWater(dataDirectory)
  if (acceptLoss || mark === null) return mark
  throw new StoreError(
    'the store is gone, and a log was published from it: put its newest copy back, or say --accept-loss',
  )
}

/** Throws a StoreError when the log is not what it signed and showed, unless it only lost what may be given up. */
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
      `seq ${fault.seq}: ${fault.reason}. Put the newest copy back; --accept-loss gives up what is missing and begins a new log`,
    )
  }
  beginNewLog(db, mark, keys)
}

const NOTHING_LOST = '--accept-loss: this log has lost nothing; start without it'

/** Lists the keys, and signs the newest tree with them where they are not those that signed it. */
export function takeKeys(db: DatabaseSync, { keys, acceptNewKey }: Omit<Signing, 'acceptLoss'>): void {
  inTransaction(db, () => {
    const { origin } = readIdentity(db)
    if (listKeys(db, { origin, size: headOf(db), keys, acceptNewKey })) signNewest(db, keys)
  })
}

/** The newest signed tree of a log, as its high-water mark keeps it. */
export function newestCheckpoint(db: DatabaseSync): HighWater {
  const { id, origin, former } = readIdentity(db)
  const size = headOf(db)
  return { log: id, checkpoint: noteOf(origin, openStoredTree(db).at(size), readSignature(db, size)), former }
}

/** The signature of the newest tree, which has `size` leaves. */
export function readSignature(db: DatabaseSync, size: number): Uint8Array {
  const stored =
    size === 0
      ? db.prepare("SELECT value FROM meta WHERE key = 'empty_signature'").get()?.['value']
      : db.prepare('SELECT signature FROM events WHERE seq = ?').get(size)?.['signature']
  if (typeof stored === 'string') return base64.decode(stored)
  if (stored instanceof Uint8Array) return stored
  throw new StoreError('the newest tree of the log is not signed')
}

/** What is lost was signed under the old origin: a shorter tree may only be signed under another. */
function beginNewLog(db: DatabaseSync, mark: HighWater | null, keys: readonly SigningKey[]): void {
  inTransaction(db, () => {
    const identity = readIdentity(db)
    const size = headOf(db)
    const id = newLogId()
    const former = [...identity.former, { id: identity.id, origin: identity.origin, size }]
    // The store is of the log before the one that was shown: what that one had beyond it is given up too.
    const shared = mark?.former.find((log) => log.id === identity.id)
    if (mark !== null && shared !== undefined) former.push(formerOf(mark, Math.min(size, shared.size)))
    const begun: LogIdentity = { ...identity, id, origin: originAfter(nameOfLog(identity), id), former }
    writeIdentity(db, begun)
    listKeys(db, { origin: begun.origin, size, keys, acceptNewKey: true })
    signNewest(db, keys)
  })
}

/** The log of a mark, of which `size` events are left. */
function formerOf({ log, checkpoint }: HighWater, size: number): FormerLog {
  const read = readCheckpoint(Buffer.from(checkpoint))
  if (!read.ok) throw new StoreError('the high-water mark beside the store holds no checkpoint')
  return { id: log, origin: read.value.checkpoint.origin, size }
}

/** Hex digits of the log id that tell a new log's origin from those of the logs before it. */
const ORIGIN_DIGITS = 8

/** The name that a log was made with, whatever was lost since. */
export function nameOfLog({
  origin,
  former,
}: Pick<LogIdentity, 'origin'> & Readonly<{ former: readonly unknown[] }>): string {
  return former.length === 0 ? origin : origin.slice(0, -(ORIGIN_DIGITS + 1))
}

function nameOfMark(mark: HighWater): string {
  return nameOfLog({ origin: formerOf(mark, 0).origin, former: mark.former })
}

/** What a log is called that goes on from one of this name. */
function originAfter(name: string, id: string): string {
  return `${name}/${id.slice(0, ORIGIN_DIGITS)}`
}

function signNewest(db: DatabaseSync, keys: readonly SigningKey[]): void {
  const size = headOf(db)
  const { signature } = openSigner(readIdentity(db).origin, keys).sign(openStoredTree(db).at(size))
  if (size > 0) db.prepare('UPDATE events SET signature = ? WHERE seq = ?').run(signature, size)
  else db.prepare("INSERT OR REPLACE INTO meta VALUES ('empty_signature', ?)").run(base64.encode(signature))
}

function inTransaction(db: DatabaseSync, change: () => void): void {
  db.exec('BEGIN IMMEDIATE')
  try {
    change()
    db.exec('COMMIT')
  } catch (error) {
    db.exec('ROLLBACK')
    throw error
  }
}
