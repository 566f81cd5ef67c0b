import { lstatSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { formatCompact, type Ms, msOf } from '../../protocol/moment.ts'
import { lockFile } from '../store/lock.ts'
import { isOfSqlite } from '../store/sqlite-error.ts'

/**
 * File with the name of a backup, which began at `atMs`. `content` is null for a link, a folder, and a file that is no
 * store.
 */
export type FolderBackup = Readonly<{ path: string; atMs: Ms; content: StoreContent | null }>

/** Identity and size of a store file of any schema, by its own tables. */
export type StoreContent = Readonly<{ log: string; origin: string; schema: number; events: number }>

/** Longest wait for a store that another process locks. */
const READ_MS_MAX = 1_000
/** Hex digits of the log's id in the name of a backup. */
const ID_DIGITS = 8
/** Names of backups. Other files in the folder are never opened, listed or removed. */
const NAME = /^daybook-([0-9a-f]{8})-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z\.db$/
/** Files of an unfinished backup, which is running or was killed. */
const UNFINISHED = /^daybook-([0-9a-f]{8})-\d{8}T\d{6}Z\.db\.partial(?:\.checking)?(?:-journal|-wal|-shm)?$/

/** Name of a backup: `daybook-`, the first digits of the log's id, and the UTC time when it began. */
export function backupName(logId: string, at: Ms): string {
  return `daybook-${logId.slice(0, ID_DIGITS)}-${formatCompact(at)}.db`
}

/** Locks a folder for the backups of one log. Throws a LockedError while another process has the lock. */
export function lockBackups(folder: string, logId: string): Disposable {
  const lock = join(folder, `daybook-${logId.slice(0, ID_DIGITS)}.lock`)
  return lockFile(lock, `another backup of this log writes into ${folder}`)
}

/** Backups in a folder, the newest first. Reads only ordinary files. */
export function* backupsIn(folder: string): Generator<FolderBackup> {
  const named = readdirSync(folder).flatMap((name) => {
    const atMs = momentOf(name)
    return atMs === undefined ? [] : [{ name, atMs }]
  })
  for (const { name, atMs } of named.toSorted((a, b) => b.atMs - a.atMs || (a.name < b.name ? -1 : 1))) {
    const path = join(folder, name)
    const content =
      lstatSync(path, { throwIfNoEntry: false })?.isFile() === true ? storeContentOf(path) : null
    yield { path, atMs, content }
  }
}

/** Moment in the name of a backup; undefined for any other name. */
function momentOf(name: string): Ms | undefined {
  const [, , year, month, day, hour, minute, second] = NAME.exec(name) ?? []
  const parsed = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`)
  return Number.isNaN(parsed) ? undefined : msOf(parsed)
}

/** Reads identity and size of a store file; null when it is no store. */
export function storeContentOf(path: string): StoreContent | null {
  let db: DatabaseSync | undefined
  try {
    db = new DatabaseSync(path, { readOnly: true, timeout: READ_MS_MAX })
    const meta = db.prepare('SELECT value FROM meta WHERE key = ?')
    const [log, origin] = ['id', 'origin'].map((key) => meta.get(key)?.['value'])
    if (typeof log !== 'string' || typeof origin !== 'string') return null
    const schema = Number(db.prepare('PRAGMA user_version').get()?.['user_version'])
    const events = Number(db.prepare('SELECT coalesce(max(seq), 0) AS seq FROM events').get()?.['seq'])
    return { log, origin, schema, events }
  } catch (error) {
    if (isOfSqlite(error)) return null
    throw error
  } finally {
    db?.close()
  }
}

/** Removes the remains of killed backups of a log. The folder must be locked. */
export function removeUnfinished(folder: string, logId: string): void {
  for (const name of readdirSync(folder)) {
    if (UNFINISHED.exec(name)?.[1] === logId.slice(0, ID_DIGITS)) removeFile(join(folder, name))
  }
}

/**
 * Removes old backups of a log. Keeps `newest` and all backups of the newest `days` days that have one. Only days with
 * a backup count, so a wrong clock or a month without backups removes no good one. Returns the removed paths.
 */
export function removeOldBackups(
  folder: string,
  { logId, days, newest }: Readonly<{ logId: string; days: number; newest: string }>,
): readonly string[] {
  const own = [...backupsIn(folder)].filter(({ content }) => content?.log === logId)
  const kept = new Set([...new Set(own.map(dayOf))].slice(0, days))
  const old = own.filter((one) => !kept.has(dayOf(one)) && one.path !== newest)
  for (const { path } of old) removeFile(path)
  return old.map(({ path }) => path)
}

function dayOf({ atMs }: FolderBackup): string {
  return new Date(atMs).toISOString().slice(0, 10)
}

/** Removes an ordinary file or a link, never a folder. */
function removeFile(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) rmSync(path, { force: true })
}
