import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { makeFolderDurably, renameDurably, syncDirectory, syncParent } from './durable-rename.ts'
import { identityOfRows, rowsOfIdentity } from './identity-rows.ts'
import type { LogIdentity } from './reader.ts'
import {
  BULK_REFS,
  BULK_TXS,
  EVENT_INDEXES,
  OLDEST_SCHEMA,
  SCHEMA_NEEDS,
  SCHEMA_VERSION,
  TABLES,
} from './store-schema.ts'
import { hasNoWal, journalBeside, MAKING, removeStore, rollBackLeft } from './store-files.ts'
import { errorMessage } from '../../protocol/error-reason.ts'

/** Older versions of SQLite can lose commits when they reset the write-ahead log. */
const SQLITE_VERSION_MIN = '3.51.3'
/**
 * Bytes of a page of the store, a quarter of SQLite's default. A commit writes every changed page whole, so small pages
 * make commits small. Reading is nearly as fast.
 */
const PAGE_BYTES = 1_024
/** Bytes to which the file of the write-ahead log is truncated after a checkpoint. */
const WAL_BYTES_KEPT = 16 * 1024 * 1024
/**
 * Pages in the write-ahead log at which a commit also checkpoints, which takes two more fsyncs. With a large number few
 * commits do so, and a page that many commits changed is written once.
 */
const CHECKPOINT_PAGES = 14_000
/** Bytes of the store's file that a reader maps into memory: the most that Node's SQLite allows. */
const MAPPED_BYTES = 0x7fff0000
const CACHE_KIB = 32 * 1024
const BULK_CACHE_KIB = 64 * 1024

/** Thrown for a store that cannot be used. The message says why. */
export class StoreError extends Error {
  override readonly name = 'StoreError'
}

export const STORE_FILE = 'daybook.db'

const OWNER_ONLY = 0o600

/** Path of the store in a data directory. */
export function storePath(dataDirectory: string): string {
  return join(dataDirectory, STORE_FILE)
}

export function hasStore(dataDirectory: string): boolean {
  return existsSync(storePath(dataDirectory))
}

/** Identity of a log to be created, without its id. */
export type NewLog = Omit<LogIdentity, 'id' | 'former'>

/**
 * Creates an empty log in a new file, with a random id unless `begun` has one. The file is named when it is complete
 * and on the disk. So an interrupted start leaves no log that the next start would refuse. `fill` writes more rows in
 * the same transaction.
 */
export function createStore(
  path: string,
  log: NewLog,
  begun: Pick<LogIdentity, 'id' | 'former'> = { id: newLogId(), former: [] },
  fill: (db: DatabaseSync) => void = () => undefined,
): void {
  makeFolderDurably(dirname(path))
  if (existsSync(path)) throw new Error(`${path} exists already: a new log must not replace it`)
  refuseLeftJournal(path)
  const making = `${path}${MAKING}`
  removeStore(making)
  const db = new DatabaseSync(making)
  // The store holds the operator's refs. SQLite gives its other files the same mode.
  chmodSync(making, OWNER_ONLY)
  try {
    checkSqlite(db)
    db.exec(`PRAGMA page_size = ${PAGE_BYTES}; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL`)
    db.exec('BEGIN IMMEDIATE')
    db.exec(TABLES)
    writeIdentity(db, { ...log, ...begun })
    writeNeeds(db)
    fill(db)
    db.exec(`PRAGMA user_version = ${SCHEMA_VERSION}; COMMIT`)
  } finally {
    // Closing the last connection moves the write-ahead log into the file.
    db.close()
  }
  renameDurably(making, path)
}

/**
 * Opens the writer's connection. Every commit is on the disk before it returns. This process must have no other connection
 * to the store, because its locks would end (`hasNoWal`).
 */
export function openForWriting(path: string): DatabaseSync {
  const db = ofPresentSchema(openAnySchema(path, { readOnly: false }))
  try {
    db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -${CACHE_KIB};
    PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}; PRAGMA journal_size_limit = ${WAL_BYTES_KEPT}; PRAGMA temp_store = MEMORY; PRAGMA foreign_keys = OFF`)
    // The write-ahead log exists now. SQLite syncs its name with the first commit but ignores a failure, and a power
    // loss could then remove the whole log. So its name and that of the directory are synced here.
    storeSchema(db)
    syncNames(dirname(path))
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

function syncNames(directory: string): void {
  try {
    syncDirectory(directory)
    syncParent(directory)
  } catch (cause) {
    const reason = errorMessage(cause)
    throw new StoreError(`the names of the files in ${directory} cannot be made durable: ${reason}`, {
      cause,
    })
  }
}

/** Opens a reader's connection, which cannot write. This process must have no other connection to the store. */
export function openForReading(path: string): DatabaseSync {
  refuseForeignJournal(path)
  return openBeside(path)
}

/** Opens a reader's connection in a process that may have others to the store, such as a service. */
export function openBeside(path: string): DatabaseSync {
  rollBackLeft(path)
  const db = ofPresentSchema(connect(path, { readOnly: true }))
  db.exec(
    `PRAGMA query_only = ON; PRAGMA mmap_size = ${MAPPED_BYTES}; PRAGMA cache_size = -${CACHE_KIB}; PRAGMA temp_store = MEMORY`,
  )
  return db
}

/**
 * Opens the connection of a bulk import. Nobody else may use the file, and it is deleted if the import fails. It has no
 * journal, and no fsync until `finishBulk`. New refs and transactions go to temporary tables, which `finishBulk` sorts
 * on the disk, so that memory does not grow with the log. The indexes of events are dropped until then.
 */
export function openForBulk(path: string): DatabaseSync {
  // SQLite refuses to run without a journal on a defensive connection, which is Node's default.
  const db = ofPresentSchema(openAnySchema(path, { readOnly: false, defensive: false }))
  setJournal(db, 'off')
  db.exec(`PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;
    PRAGMA cache_size = -${BULK_CACHE_KIB}; PRAGMA temp_store = FILE`)
  db.exec(`${BULK_REFS.gather}; ${BULK_TXS.gather}; ${EVENT_INDEXES.drop}`)
  return db
}

/** Moves refs and transactions into the store, indexes its events and restores its usual settings. Throws when two refs are equal. */
export function finishBulk(db: DatabaseSync): void {
  db.exec(`${BULK_REFS.move}; ${BULK_TXS.move}; ${EVENT_INDEXES.create}`)
  db.exec('PRAGMA locking_mode = NORMAL; PRAGMA synchronous = FULL')
  setJournal(db, 'wal')
}

/** Sets the journal mode. SQLite reports no error when it keeps the former mode, so the result is compared. */
function setJournal(db: DatabaseSync, journal: 'off' | 'wal'): void {
  const set = db.prepare(`PRAGMA journal_mode = ${journal}`).get()?.['journal_mode']
  if (set !== journal)
    throw new StoreError(`the store has the journal mode ${String(set)} instead of ${journal}`)
}

/** Reads the identity of a store's log. Throws when the rows are damaged. */
export function readIdentity(db: DatabaseSync): LogIdentity {
  const rows = db.prepare('SELECT key, value FROM meta').all()
  const identity = identityOfRows(new Map(rows.map((row) => [String(row['key']), String(row['value'])])))
  if (typeof identity === 'string')
    throw new StoreError(`the store is damaged: ${identity}. Restore the newest backup`)
  return identity
}

/** Reads the identity of the log in a data directory. Throws when there is none. */
export function readStoreIdentity(dataDirectory: string): LogIdentity {
  using db = openForReading(storePath(dataDirectory))
  return readIdentity(db)
}

/** Whether the log in a data directory is simulated. Its store may have any schema. */
export function isSimulatedLog(dataDirectory: string): boolean {
  using db = openAnySchema(storePath(dataDirectory), { readOnly: true })
  return readIdentity(db).simulated
}

/** Makes a log's id: 128 random bits in hex. */
export function newLogId(): string {
  return randomBytes(16).toString('hex')
}

/** Writes the log's identity over the former one. */
export function writeIdentity(db: DatabaseSync, identity: LogIdentity): void {
  const insert = db.prepare('INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)')
  for (const [key, value] of rowsOfIdentity(identity)) insert.run(key, value)
}

/**
 * Throws when a file without write-ahead log has one beside it. A backup has none, so this one belongs to the store
 * that the backup replaced. SQLite would write pages of that store into the backup.
 */
function refuseForeignJournal(path: string): void {
  if ((statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) === 0) return
  if (hasNoWal(path)) throw new StoreError(`${path}-wal belongs to another store: remove it and ${path}-shm`)
}

/**
 * Throws when a journal of a former store exists. It may hold commits, and SQLite would write them into a new store.
 */
export function refuseLeftJournal(path: string): void {
  const left = existsSync(path) ? undefined : journalBeside(path)
  if (left === undefined) return
  throw new StoreError(`${left} is from a store that no longer exists: restore a backup, or move it away`)
}

/** Returns the same connection. Closes it and throws when the store has another schema. */
function ofPresentSchema(db: DatabaseSync): DatabaseSync {
  try {
    const schema = storeSchema(db)
    if (schema !== SCHEMA_VERSION) throw new StoreError(refusalOf(db, schema))
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

type OpenOptions = Readonly<{ readOnly: boolean; defensive?: false }>

/**
 * Opens a store of any schema. Only an upgrade reads older schemas. This process must have no other connection to the
 * store.
 */
export function openAnySchema(path: string, options: OpenOptions): DatabaseSync {
  refuseForeignJournal(path)
  if (options.readOnly) rollBackLeft(path)
  return connect(path, options)
}

function connect(path: string, options: OpenOptions): DatabaseSync {
  const db = new DatabaseSync(path, { ...options, timeout: 5000 })
  checkSqlite(db)
  return db
}

export function storeSchema(db: DatabaseSync): number {
  return Number(db.prepare('PRAGMA user_version').get()?.['user_version'])
}

/** Reason why this Daybook cannot use a store of another schema, and the command that helps. */
export function refusalOf(db: DatabaseSync, schema: number): string {
  const both = `the store has schema ${schema}, and this Daybook reads schema ${SCHEMA_VERSION}`
  if (schema > SCHEMA_VERSION) {
    const needs = db.prepare("SELECT value FROM meta WHERE key = 'needs'").get()?.['value']
    const reader = typeof needs === 'string' ? `Daybook ${needs} or newer` : 'a newer Daybook'
    return `${both}: install ${reader}, which reads it`
  }
  if (schema >= OLDEST_SCHEMA)
    return `${both}: run daybook upgrade --data DIR, which keeps every event and signature`
  return `${both}; no release wrote or reads this one: see docs/upgrading.md, or import the drafts again`
}

/** Stores the first version of Daybook that reads this schema. */
export function writeNeeds(db: DatabaseSync): void {
  db.prepare("INSERT OR REPLACE INTO meta (key, value) VALUES ('needs', ?)").run(SCHEMA_NEEDS)
}

function checkSqlite(db: DatabaseSync): void {
  const version = String(db.prepare('SELECT sqlite_version() AS version').get()?.['version'])
  const [have, want] = [version, SQLITE_VERSION_MIN].map((v) => v.split('.').map(Number))
  const place = want?.findIndex((part, index) => part !== have?.[index]) ?? -1
  if (place >= 0 && (have?.[place] ?? 0) < (want?.[place] ?? 0)) {
    throw new StoreError(`SQLite ${version} is older than ${SQLITE_VERSION_MIN}`)
  }
}
