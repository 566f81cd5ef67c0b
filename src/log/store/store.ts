import { randomBytes } from 'node:crypto'
import { chmodSync, closeSync, existsSync, mkdirSync, openSync, readSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { isChain } from '../../protocol/tx.ts'
import { renameDurably, syncDirectory } from './durable-rename.ts'
import type { FormerLog, LogIdentity } from './reader.ts'
import { BULK_REFS, BULK_TXS, SCHEMA_VERSION, TABLES } from './store-schema.ts'
import { text } from './codec.ts'

/** SQLite below this resets its write-ahead log in a way that can lose commits. */
const SQLITE_VERSION_MIN = '3.51.3'
/**
 * Bytes of a page of the store. A commit writes every page that it changes whole, and now and then a page that is full
 * takes its neighbours along: a quarter of SQLite's default is a quarter of that, and reads nearly as fast.
 */
const PAGE_BYTES = 1_024
/** Bytes of the write-ahead log that are kept between checkpoints. */
const WAL_BYTES_KEPT = 16 * 1024 * 1024
/**
 * Pages of it after which the commit that reaches them writes them into the store, which takes two fsyncs more: so
 * many that few commits wait for it and a page that many commits changed is written once.
 */
const CHECKPOINT_PAGES = 14_000
/** Bytes of the store's file that a reader maps into its address space: the most that SQLite in Node is built for. */
const MAPPED_BYTES = 0x7fff0000
const CACHE_KIB = 32 * 1024
const BULK_CACHE_KIB = 64 * 1024

/** A store that this Daybook cannot read; the message says why. */
export class StoreError extends Error {
  override readonly name = 'StoreError'
}

export const STORE_FILE = 'daybook.db'

const OWNER_ONLY = 0o600

/** Where the log of a data directory lies. */
export function storePath(dataDirectory: string): string {
  return join(dataDirectory, STORE_FILE)
}

export function hasStore(dataDirectory: string): boolean {
  return existsSync(storePath(dataDirectory))
}

/** What a new log is made with. */
export type NewLog = Omit<LogIdentity, 'id' | 'former'>

/**
 * Creates an empty log in a file that does not exist yet; its id is random unless it goes on from former logs. It is
 * whole and on the disk when it has its name: a start that was cut short leaves no log behind that the next one would
 * refuse.
 */
export function createStore(
  path: string,
  log: NewLog,
  begun: Pick<LogIdentity, 'id' | 'former'> = { id: newLogId(), former: [] },
): void {
  mkdirSync(dirname(path), { recursive: true })
  if (existsSync(path)) throw new Error('a new log would take the place of one that is there')
  const making = `${path}.making`
  for (const suffix of ['', '-journal', '-wal', '-shm']) rmSync(`${making}${suffix}`, { force: true })
  const db = new DatabaseSync(making)
  // Refs are the operator's own; what SQLite lays beside the file takes its mode.
  chmodSync(making, OWNER_ONLY)
  try {
    checkSqlite(db)
    db.exec(`PRAGMA page_size = ${PAGE_BYTES}; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL`)
    db.exec('BEGIN IMMEDIATE')
    db.exec(TABLES)
    writeIdentity(db, { ...log, ...begun })
    db.exec(`PRAGMA user_version = ${SCHEMA_VERSION}; COMMIT`)
  } finally {
    // The last connection writes the write-ahead log into the file, and leaves one file.
    db.close()
  }
  renameDurably(making, path)
}

/** The writer's connection: every commit is on the disk before it returns. */
export function openForWriting(path: string): DatabaseSync {
  const db = open(path, { readOnly: false })
  // The write-ahead log is there since the store was looked at. SQLite syncs its name with the first commit, and
  // takes no notice when that fails: after a loss of power the log could be gone with all that it holds.
  try {
    syncNames(dirname(path))
  } catch (error) {
    db.close()
    throw error
  }
  db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -${CACHE_KIB};
    PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}; PRAGMA journal_size_limit = ${WAL_BYTES_KEPT}; PRAGMA temp_store = MEMORY; PRAGMA foreign_keys = OFF`)
  return db
}

function syncNames(directory: string): void {
  try {
    syncDirectory(directory)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new StoreError(`the names of the files in ${directory} cannot be made durable: ${reason}`, {
      cause,
    })
  }
}

/** A reader's connection: it cannot write. */
export function openForReading(path: string): DatabaseSync {
  const db = open(path, { readOnly: true })
  db.exec(
    `PRAGMA query_only = ON; PRAGMA mmap_size = ${MAPPED_BYTES}; PRAGMA cache_size = -${CACHE_KIB}; PRAGMA temp_store = MEMORY`,
  )
  return db
}

/**
 * The connection of a bulk import, on a file that nobody else has opened and that is thrown away if the import
 * fails: no journal, no fsync until `finishBulk`, and new refs and transactions gathered beside the store, sorted on the
 * disk at the end, so that memory does not grow with the log.
 */
export function openForBulk(path: string): DatabaseSync {
  // Node's connections are defensive: SQLite then refuses to go without a journal.
  const db = open(path, { readOnly: false, defensive: false })
  setJournal(db, 'off')
  db.exec(`PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;
    PRAGMA cache_size = -${BULK_CACHE_KIB}; PRAGMA temp_store = FILE`)
  db.exec(`${BULK_REFS.gather}; ${BULK_TXS.gather}`)
  return db
}

/**
 * Puts refs and transactions in their place and leaves the file as a server expects it. Throws when two refs are the same.
 */
export function finishBulk(db: DatabaseSync): void {
  db.exec(`${BULK_REFS.move}; ${BULK_TXS.move}`)
  db.exec('PRAGMA locking_mode = NORMAL; PRAGMA synchronous = FULL')
  setJournal(db, 'wal')
}

/** SQLite answers with the journal that it has, and does not fail when it keeps the former one. */
function setJournal(db: DatabaseSync, journal: 'off' | 'wal'): void {
  const set = db.prepare(`PRAGMA journal_mode = ${journal}`).get()?.['journal_mode']
  if (set !== journal) throw new StoreError(`the store keeps the journal ${String(set)}, not ${journal}`)
}

export function readIdentity(db: DatabaseSync): LogIdentity {
  const meta = new Map(
    db
      .prepare('SELECT key, value FROM meta')
      .all()
      .map((row) => [text(row, 'key'), text(row, 'value')]),
  )
  const chain = meta.get('chain') ?? ''
  if (!isChain(chain)) throw new StoreError('the store names no chain that is known')
  return {
    id: meta.get('id') ?? '',
    origin: meta.get('origin') ?? '',
    chain,
    simulated: meta.get('simulated') === '1',
    former: formerLogsOf(meta.get('former') ?? '[]'),
  }
}

function formerLogsOf(json: string): readonly FormerLog[] {
  try {
    return JSON.parse(json)
  } catch (cause) {
    throw new StoreError('the store’s list of former logs is damaged', { cause })
  }
}

/** What the log of a data directory is; it must have one. */
export function readStoreIdentity(dataDirectory: string): LogIdentity {
  const db = openForReading(storePath(dataDirectory))
  try {
    return readIdentity(db)
  } finally {
    db.close()
  }
}

/** A log's id: 128 random bits. */
export function newLogId(): string {
  return randomBytes(16).toString('hex')
}

/** Writes what the log is, in place of what it was. */
export function writeIdentity(db: DatabaseSync, identity: LogIdentity): void {
  const insert = db.prepare('INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)')
  insert.run('id', identity.id)
  insert.run('origin', identity.origin)
  insert.run('chain', identity.chain)
  insert.run('simulated', identity.simulated ? '1' : '0')
  insert.run('former', JSON.stringify(identity.former))
}

/** The place in a SQLite file that says whether it has a write-ahead log (2) or none (1). */
const WRITE_VERSION_AT = 18
const NO_WAL = 1

/**
 * A backup has no write-ahead log. One that lies beside it is of the store that it replaced, and SQLite would write
 * pages of that into it.
 */
function refuseForeignJournal(path: string): void {
  if ((statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) === 0) return
  const header = new Uint8Array(WRITE_VERSION_AT + 1)
  const file = openSync(path, 'r')
  try {
    readSync(file, header)
  } finally {
    closeSync(file)
  }
  if (header[WRITE_VERSION_AT] !== NO_WAL) return
  throw new StoreError(
    `${path}-wal belongs to another store than this copy: remove it, and the -shm beside it`,
  )
}

function open(path: string, options: Readonly<{ readOnly: boolean; defensive?: false }>): DatabaseSync {
  refuseForeignJournal(path)
  const db = new DatabaseSync(path, { ...options, timeout: 5000 })
  checkSqlite(db)
  const version = db.prepare('PRAGMA user_version').get()?.['user_version']
  if (version !== SCHEMA_VERSION) {
    db.close()
    throw new StoreError(`the store has schema ${String(version)}, this Daybook reads ${SCHEMA_VERSION}`)
  }
  return db
}

function checkSqlite(db: DatabaseSync): void {
  const version = text(db.prepare('SELECT sqlite_version() AS version').get() ?? {}, 'version')
  const [have, want] = [version, SQLITE_VERSION_MIN].map((v) => v.split('.').map(Number))
  const place = want?.findIndex((part, index) => part !== have?.[index]) ?? -1
  if (place >= 0 && (have?.[place] ?? 0) < (want?.[place] ?? 0)) {
    throw new StoreError(`SQLite ${version} is older than ${SQLITE_VERSION_MIN}`)
  }
}
