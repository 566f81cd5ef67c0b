import { existsSync, lstatSync, readdirSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { backupsIn, type FolderBackup } from '../../log/backup/backup-folder.ts'
import { readLastBackup } from '../../log/backup/last-backup.ts'
import { openReader } from '../../log/open-reader.ts'
import { freeBytes } from '../../log/store/disk-probe.ts'
import { HIGH_WATER_FILE, readHighWater } from '../../log/store/high-water.ts'
import { type MirrorMeta, readMirrorMeta } from '../../log/store/mirror-meta.ts'
import type { ListedKey } from '../../log/store/reader.ts'
import { openForReading, STORE_FILE, storePath } from '../../log/store/store.ts'
import { faultAtStart, isBehindCarrier, type LogFault } from '../../log/tree/log-fault.ts'
import { readKeys } from '../../log/tree/signing-keys.ts'
import { formatCount } from '../../protocol/amount.ts'
import { namesNoSite, requireLog } from '../operator/log-options.ts'
import { defaultKeyFile, OTHERS, readableKeys, readKeyFile, vkeyOf } from '../operator/signing-key-file.ts'
import { TOKEN_FILE } from '../publish/token-file.ts'
import { textOfFault } from '../service/background-audit.ts'
import { openFilesFor } from '../service/connection-limit.ts'
import { type CommandContext, outsideReason } from '../terminal/command-context.ts'
import { CommandError, UsageError } from '../terminal/command-error.ts'
import { isFolder, readStart } from '../terminal/option-paths.ts'
import { formatAge, formatBytes, printable, shellQuoted } from '../terminal/output.ts'
import { type Diagnosis, heldDiagnosis, note, ok, warn, wrong } from './diagnosis.ts'

/** Free bytes below which publishing may soon stop: a commit may write tens of KiB, and the write-ahead log grows. */
const FREE_BYTES_MIN: number = 256 * 1024 * 1024
/** Most milliseconds by which the newest event may be ahead of the clock: two readings of a clock differ by less. */
const AHEAD_MS_MAX = 1_000

type DirectorySettings = Readonly<{
  data: string
  backups: string | null
  keyFiles: readonly string[] | null
  streamsMax: number
  overdueMs: number
}>

/** Examines a data directory from outside of the service, which may be running. */
export function diagnoseDirectory(
  settings: DirectorySettings,
  context: CommandContext,
): readonly Diagnosis[] {
  const { data, backups, streamsMax } = settings
  requireLog(data)
  const { id, found } = diagnoseStore(settings, context)
  return [
    ...found,
    diskOf(data),
    lastBackupDiagnosis(data, context),
    ...(backups === null ? [] : backupsDiagnosis(backups, id === null ? null : { id, data }, context)),
    ...keysInside(data),
    ...keptStores(data, context),
    ...(context.hasFileModes ? modesOf(data) : []),
    openFilesOf(streamsMax, context),
  ]
}

type StoreDiagnosis = Readonly<{ id: string | null; found: readonly Diagnosis[] }>

/** Examines the store. One that cannot be opened, such as that of an older Daybook, is a finding of its own. */
function diagnoseStore(settings: DirectorySettings, context: CommandContext): StoreDiagnosis {
  let db: DatabaseSync | undefined
  try {
    db = openForReading(storePath(settings.data))
    return diagnoseOpenStore(db, settings, context)
  } catch (error) {
    const reason = outsideReason(error)
    if (reason === undefined) throw error
    return { id: null, found: [wrong('store', reason)] }
  } finally {
    db?.close()
  }
}

function diagnoseOpenStore(
  db: DatabaseSync,
  { data, keyFiles, overdueMs }: DirectorySettings,
  context: CommandContext,
): StoreDiagnosis {
  const reader = openReader(data, null)
  const { identity } = reader
  const head = reader.head()
  const waiting = reader.snapshot((snapshot) => snapshot.held())
  reader.close()
  const fault = faultAtStart(db, readHighWater(data), readableKeys(keyFiles, data, context))
  const age = head.atMs === null ? '' : `, the newest ${formatAge(context.now() - head.atMs)} old`
  const purpose = namesNoSite(identity.origin) ? ', not for the public' : ''
  const mirror = readMirrorMeta(db)
  const found = [
    note('log', `${identity.origin} (${identity.chain})${purpose}, ${formatCount(head.seq, 'event')}${age}`),
    highWaterOf(db, fault),
    clockOf(head.atMs, context),
    heldDiagnosis(
      { ...waiting, oldestAtMs: waiting.oldestMs },
      {
        nowMs: context.now(),
        overdueMs,
        list: `${context.program} held --token-file ${shellQuoted(join(data, TOKEN_FILE))}`,
      },
    ),
    ...(mirror === null
      ? (keyFiles ?? [defaultKeyFile(data)]).map((file) =>
          keyDiagnosis(file, identity.origin, readKeys(db), context),
        )
      : [mirrorKeyDiagnosis(mirror)]),
  ]
  return { id: identity.id, found }
}

function highWaterOf(db: DatabaseSync, fault: LogFault | null): Diagnosis {
  if (fault === null)
    return ok('high-water', 'the log agrees with the last signed tree and the high-water mark')
  return isBehindCarrier(db, fault)
    ? note('high-water', `${textOfFault(fault)}; its table has the rest`)
    : wrong('high-water', textOfFault(fault))
}

function diskOf(data: string): Diagnosis {
  const free = freeBytes(data)
  const size = statSync(storePath(data)).size
  const says = `${formatBytes(free)} free, the store has ${formatBytes(size)}`
  if (free < FREE_BYTES_MIN) return wrong('disk', `${says}: free some space; a full disk stops publishing`)
  if (free < size)
    return warn('disk', `${says}: check, import and a backup here need as much free space as the store has`)
  return ok('disk', says)
}

function clockOf(headMs: number | null, context: CommandContext): Diagnosis {
  const aheadMs = (headMs ?? 0) - context.now()
  return aheadMs > AHEAD_MS_MAX
    ? wrong('clock', `the clock is ${formatAge(aheadMs)} behind the newest event: set it before publishing`)
    : ok('clock', 'the clock is not behind the newest event')
}

/** The diagnosis of a mirror's key: there is none, and none is needed. */
export function mirrorKeyDiagnosis({ of }: MirrorMeta): Diagnosis {
  return ok('key', `a mirror of ${of}: it signs nothing and has no key`)
}

/** Whether a key file is there, private, and signs the log of this origin. */
export function keyDiagnosis(
  file: string,
  origin: string,
  listed: readonly ListedKey[],
  context: CommandContext,
): Diagnosis {
  try {
    if (!existsSync(file))
      return wrong(
        'key',
        `${resolve(file)} is missing: bring its copy back, or see --accept-new-key of serve`,
      )
    const vkey = vkeyOf(readKeyFile(file, context), origin)
    const key = listed.find((one) => one.vkey === vkey)
    if (key === undefined)
      return warn('key', `this log does not list the key in ${file}, which has signed nothing of it`)
    if (key.toSize !== null) return warn('key', `the key in ${file} signs no trees after size ${key.toSize}`)
    return ok('key', `${file} is private and signs this log`)
  } catch (error) {
    if (error instanceof CommandError) return wrong('key', error.message)
    throw error
  }
}

function openFilesOf(streamsMax: number, context: CommandContext): Diagnosis {
  const limit = context.openFilesMax?.() ?? null
  const wanted = openFilesFor(streamsMax)
  if (limit === null) return note('open files', 'the limit is not known on this system')
  return limit < wanted
    ? warn(
        'open files',
        `the limit is ${limit}; ${streamsMax} streams need ${wanted}: raise ulimit -n or lower --max-streams`,
      )
    : ok('open files', `the limit is ${limit}; ${streamsMax} streams need ${wanted}`)
}

/** Greatest age of the last backup in milliseconds: a day, and two hours for a backup that takes long. */
const BACKUP_AGE_MS_MAX: number = 26 * 60 * 60 * 1_000

/** Whether the last backup of a data directory is recent. */
function lastBackupDiagnosis(data: string, context: CommandContext): Diagnosis {
  const last = readLastBackup(data)
  const command = backupCommand(context, data, 'FOLDER')
  if (last === null) return warn('backup', `no verified backup was made: run ${command} each night`)
  const ageMs = context.now() - last.at
  const says = `the last verified one is ${formatAge(ageMs)} old: ${formatCount(last.events, 'event')}, ${formatBytes(last.bytes)}`
  return ageMs > BACKUP_AGE_MS_MAX ? warn('backup', `${says}; ${orMake(command)}`) : ok('backup', says)
}

function orMake(command: string): string {
  return `look why no newer one was made, or run ${command} now`
}

/** Command that makes a backup. */
function backupCommand({ program }: CommandContext, data: string, to: string): string {
  return `${program} backup --data ${shellQuoted(data)} --to ${shellQuoted(to)}`
}

/** The log whose backups a folder should have, and its data directory; null for any log. */
type BackedUpLog = Readonly<{ id: string; data: string }>

/** Examines a folder of backups: age of the newest, modes, keys, and whether it is on the disk of the log. */
export function backupsDiagnosis(
  folder: string,
  log: BackedUpLog | null,
  context: CommandContext,
): readonly Diagnosis[] {
  if (!isFolder(folder)) throw new UsageError(`--backups: ${shellQuoted(folder)} is no folder`)
  const backups = [...backupsIn(folder)].filter(
    ({ content }) => content !== null && (log === null || content.log === log.id),
  )
  const isSameDisk = log !== null && statSync(folder).dev === statSync(log.data).dev
  return [
    newestOf(folder, backups, backupCommand(context, log?.data ?? 'DIR', folder), context.now()),
    ...(context.hasFileModes ? modesOfBackups(folder, backups) : []),
    ...keysInside(folder),
    ...(isSameDisk
      ? [
          note(
            'backups',
            `${folder} is on the disk of the log and is lost with it: copy it to another machine`,
          ),
        ]
      : []),
  ]
}

type Backups = readonly FolderBackup[]

function newestOf(folder: string, backups: Backups, command: string, nowMs: number): Diagnosis {
  const [newest] = backups
  if (newest === undefined) return wrong('backups', `${folder} has no backup of this log`)
  const ageMs = nowMs - newest.atMs
  const says = `${backups.length} in ${folder}, the newest ${formatAge(ageMs)} old with ${formatCount(newest.content?.events ?? 0, 'event')}`
  return ageMs > BACKUP_AGE_MS_MAX ? warn('backups', `${says}; ${orMake(command)}`) : ok('backups', says)
}

function modesOfBackups(folder: string, backups: Backups): readonly Diagnosis[] {
  const open = backups.filter(({ path }) => (lstatSync(path).mode & OTHERS) !== 0)
  const [first] = open
  const files =
    first === undefined
      ? []
      : [
          wrong(
            'backups',
            `${first.path}${open.length === 1 ? '' : ` and ${open.length - 1} more`} may be read by other users, with the refs: chmod 600`,
          ),
        ]
  const isOpen = (statSync(folder).mode & OTHERS) !== 0
  return isOpen ? [...files, warn('backups', `${folder}: other users may look into it: chmod 700`)] : files
}

/** Bits of a file mode that let other users write. */
const OTHERS_WRITE = 0o022
/** Bytes of the largest file that may be a key. */
const KEY_BYTES_MAX = 16 * 1024
/** Files of a directory that are looked at, at most. */
const FILES_MAX = 1_000

/** Modes of the files: other users must not write the store or read the token. */
function modesOf(data: string): readonly Diagnosis[] {
  const files: readonly (readonly [path: string, forbidden: number, why: string])[] = [
    [data, OTHERS_WRITE, 'other users may write into it: chmod go-w'],
    [join(data, STORE_FILE), OTHERS_WRITE, 'other users may change history: chmod go-w'],
    [join(data, HIGH_WATER_FILE), OTHERS_WRITE, 'other users may change the mark: chmod go-w'],
    [join(data, TOKEN_FILE), OTHERS, 'other users may read it and publish: chmod 600, then change the token'],
  ]
  const found = files.flatMap(([path, forbidden, why]) => {
    const mode = statSync(path, { throwIfNoEntry: false })?.mode
    return mode === undefined || (mode & forbidden) === 0 ? [] : [wrong('modes', `${path}: ${why}`)]
  })
  const parent = dirname(resolve(data))
  const { mode } = statSync(parent)
  // With the sticky bit, as in a temporary folder, only the owner of a file may rename it.
  const isShared = (mode & OTHERS_WRITE) !== 0 && (mode & 0o1000) === 0
  const above = isShared
    ? [warn('modes', `${parent}: other users may replace the data directory: chmod go-w`)]
    : []
  return found.length + above.length > 0
    ? [...found, ...above]
    : [ok('modes', 'only the owner may change the files')]
}

/** Private keys among the files of a folder. Every copy of the folder could sign with them. */
function keysInside(folder: string): readonly Diagnosis[] {
  return filesIn(folder, (name) => name !== STORE_FILE).flatMap(({ path, size }) => {
    if (size > KEY_BYTES_MAX || !isPrivateKey(path)) return []
    const says = `${printable(path)} is a private key beside the log: move it away, or every copy of the folder can sign`
    return [wrong('key', says)]
  })
}

function isPrivateKey(path: string): boolean {
  try {
    return /-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY-----/.test(readStart(path, KEY_BYTES_MAX))
  } catch {
    // A file that this user may not read is no key that the service uses.
    return false
  }
}

/** Stores that an upgrade or a restore has kept, which only take space now. */
function keptStores(data: string, { program, now }: CommandContext): readonly Diagnosis[] {
  return filesIn(data, (name) => /^daybook\.db\.(?:schema-|replaced-)/.test(name)).map(
    ({ path, size, mtimeMs }) => {
      const by = path.includes('.db.schema-') ? 'an upgrade' : 'a restore'
      const remove =
        by === 'an upgrade' ? `${program} upgrade --data ${shellQuoted(data)} --remove-old` : 'rm'
      const remedy = `remove it when all is well, with ${remove}`
      const age = formatAge(now() - mtimeMs)
      return note('kept store', `${path} was kept by ${by}: ${formatBytes(size)}, ${age} old; ${remedy}`)
    },
  )
}

/** Ordinary files of a folder, never what a link points to. */
function filesIn(
  folder: string,
  accepts: (name: string) => boolean,
): readonly Readonly<{ path: string; size: number; mtimeMs: number }>[] {
  return readdirSync(folder)
    .filter(accepts)
    .slice(0, FILES_MAX)
    .flatMap((name) => {
      const path = join(folder, name)
      const found = lstatSync(path, { throwIfNoEntry: false })
      return found?.isFile() === true ? [{ path, size: found.size, mtimeMs: found.mtimeMs }] : []
    })
}
