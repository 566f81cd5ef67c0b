import { closeSync, existsSync, openSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { freeBytes } from '../../log/store/disk-probe.ts'
import {
  backupsIn,
  type FolderBackup,
  type StoreContent,
  storeContentOf,
} from '../../log/backup/backup-folder.ts'
import type { LogIdentity } from '../../log/store/reader.ts'
import { type HighWater, readHighWater } from '../../log/store/high-water.ts'
import { LockedError, lockDirectory } from '../../log/store/lock.ts'
import { readMirrorMeta } from '../../log/store/mirror-meta.ts'
import { SCHEMA_VERSION } from '../../log/store/store-schema.ts'
import {
  hasStore,
  openAnySchema,
  readIdentity,
  refusalOf,
  storeSchema,
  StoreError,
  storePath,
} from '../../log/store/store.ts'
import { carriedPlace } from '../../log/tree/carried-place.ts'
import { readKeys } from '../../log/tree/signing-keys.ts'
import { type Diagnosis, note, ok, warn, wrong } from '../doctor/diagnosis.ts'
import { keyDiagnosis, mirrorKeyDiagnosis } from '../doctor/doctor-directory.ts'
import { defaultKeyFile } from '../operator/signing-key-file.ts'
import { asPathError, isFolder } from '../terminal/option-paths.ts'
import { shellQuoted } from '../terminal/output.ts'
import { formatAge, formatBytes } from '../terminal/rounded-quantity.ts'
import { CommandError, type World } from '../terminal/world.ts'
import { lossOf } from './restore-loss.ts'
import { formatCount } from '../../protocol/amount.ts'

export type RestoreSettings = Readonly<{
  from: string
  data: string
  /** Key that signs the log; null for the default file. */
  keyFiles: readonly string[] | null
  acceptLoss: boolean
}>

/** Plan of a restore. A finding that is `wrong` prevents it. */
export type RestorePlan = Readonly<{
  backup: ChosenBackup
  mark: HighWater | null
  /** The mark to write before the restore, when the present store alone knows of a loss. */
  raised: HighWater | null
  /** The present store: null when there is none, or when it cannot be read. */
  present: StoreContent | null
  /** Whether readers have seen more than the backup holds. */
  isLoss: boolean
  /** Whether a table carries the log, which still has what the backup lacks. */
  isCarried: boolean
  found: readonly Diagnosis[]
}>

type ChosenBackup = Readonly<{ path: string; atMs: number | null; content: StoreContent; bytes: number }>

/** Plans a restore, and changes nothing. */
export function planRestore(settings: RestoreSettings, world: World): RestorePlan {
  const { data, from, acceptLoss } = settings
  const present = hasStore(data) ? presentOf(storePath(data)) : null
  const { mark, fault } = markOf(data)
  const { backup, damaged } = chooseBackup(from, logsOf(present, mark))
  const { content, bytes, atMs } = backup
  const age = atMs === null ? '' : `, made ${formatAge(world.now() - atMs)} ago`
  const shared = sharedLog(backup)
  const isCarried = shared !== null
  const known = { data, mark, present }
  const accepted = { shared, isAccepted: acceptLoss, program: world.program }
  const { lost, raised, found: lossFound } = lossOf(content, known, accepted)
  const found = [
    note('backup', `${backup.path}${age}: ${formatCount(content.events, 'event')}, ${formatBytes(bytes)}`),
    ...damaged.map(({ path }) => warn('backup', `${path} is newer, but is no store that can be read`)),
    note('log', `${content.origin}, id ${content.log}`),
    schemaFound(backup.path, content),
    ...(fault === null ? [] : [warn('high-water', fault)]),
    presentFound(data, present),
    ...lossFound,
    ...keysFound(settings, backup.path, content, world),
    diskFound(data, bytes),
    ...lockFound(data),
  ]
  return { backup, mark, raised, present, isLoss: lost, isCarried, found }
}

/** The present store; null when it is damaged. One that this user may not read is no damaged one. */
function presentOf(store: string): StoreContent | null {
  refuseUnreadable(store, '--data')
  return storeContentOf(store)
}

function refuseUnreadable(path: string, option: string): void {
  try {
    closeSync(openSync(path, 'r'))
  } catch (error) {
    throw asPathError(error, option)
  }
}

function markOf(data: string): Readonly<{ mark: HighWater | null; fault: string | null }> {
  try {
    return { mark: readHighWater(data), fault: null }
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    return { mark: null, fault: `${error.message}; nothing tells what was published after the backup` }
  }
}

/** Ids of the log of a directory and of those that it continues, the newest first. */
function logsOf(present: StoreContent | null, mark: HighWater | null): readonly string[] {
  const former = mark?.former.map(({ id }) => id).toReversed() ?? []
  return [mark?.log, present?.log, ...former].filter((id) => id !== undefined)
}

type Chosen = Readonly<{ backup: ChosenBackup; damaged: readonly FolderBackup[] }>

/**
 * The given file, or the backup in the given folder with the most events of the first of `logs` that has one. Without
 * `logs`, that of a folder that has backups of one log only.
 */
function chooseBackup(from: string, logs: readonly string[]): Chosen {
  if (!isFolder(from)) return { backup: chosen(from, null, contentOf(from)), damaged: [] }
  const named = [...backupsIn(from)]
  if (logs.length === 0) refuseSeveralLogs(from, named)
  const wanted = logs.length > 0 ? logs : named.flatMap(({ content }) => content?.log ?? []).slice(0, 1)
  for (const log of wanted) {
    const at = newestOf(log, named)
    const { path, atMs, content } = named[at] ?? { path: '', atMs: null, content: null }
    if (content === null) continue
    const damaged = named.slice(0, at).filter((newer) => newer.content === null)
    return { backup: chosen(path, atMs, content), damaged }
  }
  const whose = logs[0] === undefined ? '' : ` of the log ${logs[0]}`
  throw new CommandError(2, `--from: ${shellQuoted(from)} holds no backup${whose}`)
}

/**
 * Index of the backup with the most events of a log, and of these of the one with the latest name; -1 without any. Events
 * of one log only grow, and a name is only as good as the clock that gave it.
 */
function newestOf(log: string, named: readonly FolderBackup[]): number {
  const events = named.map(({ content }) => (content?.log === log ? content.events : -1))
  const most = Math.max(-1, ...events)
  return most < 0 ? -1 : events.indexOf(most)
}

function chosen(path: string, atMs: number | null, content: StoreContent): ChosenBackup {
  return { path, atMs, content, bytes: statSync(path).size }
}

function contentOf(file: string): StoreContent {
  if (!existsSync(file) || !statSync(file).isFile())
    throw new CommandError(2, `--from: there is no file or folder ${shellQuoted(file)}`)
  refuseUnreadable(file, '--from')
  const content = storeContentOf(file)
  if (content === null) throw new CommandError(1, `--from: ${shellQuoted(file)} is no store of Daybook`)
  return content
}

function refuseSeveralLogs(folder: string, named: readonly FolderBackup[]): void {
  const logs = new Set(named.flatMap(({ content }) => content?.log ?? []))
  if (logs.size > 1) {
    const reason = `holds backups of ${logs.size} logs: give the file of one`
    throw new CommandError(2, `--from: ${shellQuoted(folder)} ${reason}`)
  }
}

function schemaFound(path: string, { schema }: StoreContent): Diagnosis {
  if (schema === SCHEMA_VERSION) return ok('schema', `${schema}, which this Daybook reads`)
  const db = openAnySchema(path, { readOnly: true })
  try {
    const reason = refusalOf(db, storeSchema(db))
    return schema < SCHEMA_VERSION ? warn('schema', reason) : wrong('schema', reason)
  } finally {
    db.close()
  }
}

function presentFound(data: string, present: StoreContent | null): Diagnosis {
  if (!hasStore(data)) return note('present', `${shellQuoted(data)} holds no store`)
  if (present === null)
    return note('present', 'the present store cannot be read; it is kept under another name')
  return note(
    'present',
    `the present store has ${formatCount(present.events, 'event')}; it is kept under another name`,
  )
}

/** Identity of the log of a backup when a table carries it; null otherwise. */
function sharedLog({ path, content: { schema } }: ChosenBackup): LogIdentity | null {
  if (schema !== SCHEMA_VERSION) return null
  const db = openAnySchema(path, { readOnly: true })
  try {
    return carriedPlace(db) === null ? null : readIdentity(db)
  } finally {
    db.close()
  }
}

function keysFound(
  { data, keyFiles }: RestoreSettings,
  path: string,
  { origin, schema }: StoreContent,
  world: World,
): readonly Diagnosis[] {
  const files = keyFiles ?? [defaultKeyFile(data)]
  const db = openAnySchema(path, { readOnly: true })
  try {
    const mirror = schema === SCHEMA_VERSION ? readMirrorMeta(db) : null
    if (mirror !== null) return [mirrorKeyDiagnosis(mirror)]
    const listed = schema === SCHEMA_VERSION ? readKeys(db) : []
    return files.map((file) => {
      const found = keyDiagnosis(file, origin, listed, world)
      // The key is not needed before the start.
      if (found.is === 'wrong') return warn(found.what, found.says)
      return schema === SCHEMA_VERSION ? found : note('key', `${file} is there`)
    })
  } finally {
    db.close()
  }
}

function diskFound(data: string, bytes: number): Diagnosis {
  let folder = resolve(data)
  while (!existsSync(folder)) folder = dirname(folder)
  const free = freeBytes(folder)
  const says = `the restore needs ${formatBytes(bytes)}, and ${formatBytes(free)} are free`
  return free < bytes ? wrong('disk', says) : ok('disk', says)
}

/** Whether another process uses the directory. A restore takes the lock itself before it plans. */
function lockFound(data: string): readonly Diagnosis[] {
  // The lock's file is not made here: a dry run changes nothing.
  if (!existsSync(join(data, 'lock'))) return []
  try {
    lockDirectory(data)[Symbol.dispose]()
    return []
  } catch (error) {
    if (!(error instanceof LockedError)) throw error
    return [warn('lock', 'another process uses the directory: stop the service before the restore')]
  }
}
