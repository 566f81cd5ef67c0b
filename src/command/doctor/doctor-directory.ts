import { existsSync, lstatSync, readdirSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { backupsIn, type FolderBackup } from '../../log/backup/backup-folder.ts'
import { readLastBackup } from '../../log/backup/last-backup.ts'
import { openReader } from '../../log/open-reader.ts'
import { FREE_BYTES_MIN, freeBytes } from '../../log/store/disk-probe.ts'
import { HIGH_WATER_FILE, readHighWater } from '../../log/store/high-water.ts'
import { type MirrorMeta, readMirrorMeta } from '../../log/store/mirror-meta.ts'
import type { ListedKey } from '../../log/store/reader.ts'
import { openForReading, STORE_FILE, storePath } from '../../log/store/store.ts'
import { faultAtStart, isBehindCarrier } from '../../log/tree/log-fault.ts'
import type { SigningKey } from '../../log/tree/signer.ts'
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
import { type Diagnosis, heldVerdict, named, note, ok, type CheckVerdict, warn, wrong } from './diagnosis.ts'

/** Most milliseconds by which the newest event may be ahead of the clock. Two reads of a clock differ by less. */
const AHEAD_MS_MAX = 1_000

type DirectorySettings = Readonly<{
  data: string
  backups: string | null
  keyFiles: readonly string[] | null
  streamsMax: number
  overdueMs: number
}>

/** Examines a data directory from outside the service, which may be running. */
export function diagnoseDirectory(
  settings: DirectorySettings,
  context: CommandContext,
): readonly Diagnosis[] {
  const { data, backups, streamsMax } = settings
  requireLog(data)
  const { id, found } = diagnoseStore(settings, context)
  return [
    ...found,
    ...named('disk', diskOf(data)),
    ...named('backup', lastBackupOf(data, context)),
    ...(backups === null ? [] : diagnoseBackups(backups, id === null ? null : { id, data }, context)),
    ...named('key', ...keysInside(data)),
    ...named('kept store', ...keptStores(data, context)),
    ...named('modes', ...(context.hasFileModes ? modesOf(data) : [])),
    ...named('open files', openFilesOf(streamsMax, context)),
  ]
}

type StoreDiagnosis = Readonly<{ id: string | null; found: readonly Diagnosis[] }>

/** Examines the store. A store that cannot be opened, such as an older Daybook's, has a verdict of its own. */
function diagnoseStore(
  { data, keyFiles, overdueMs }: DirectorySettings,
  context: CommandContext,
): StoreDiagnosis {
  try {
    using db = openForReading(storePath(data))
    const reader = openReader(data, null)
    const { identity } = reader
    const head = reader.head()
    const waiting = reader.snapshot((snapshot) => snapshot.held())
    reader.close()
    const nowMs = context.now()
    const age = head.atMs === null ? '' : `, the newest ${formatAge(nowMs - head.atMs)} old`
    const purpose = namesNoSite(identity.origin) ? ', not for the public' : ''
    const mirror = readMirrorMeta(db)
    const listed = readKeys(db)
    const keys = (keyFiles ?? [defaultKeyFile(data)]).map((file) =>
      keyVerdict(file, identity.origin, listed, context),
    )
    const list = `${context.program} held --token-file ${shellQuoted(join(data, TOKEN_FILE))}`
    const log = `${identity.origin} (${identity.chain})${purpose}, ${formatCount(head.seq, 'event')}${age}`
    const found = [
      ...named('log', note(log)),
      ...named('high-water', highWaterOf(db, data, readableKeys(keyFiles, data, context))),
      ...named('clock', clockOf(head.atMs, context)),
      ...named('held', heldVerdict({ ...waiting, oldestAtMs: waiting.oldestMs }, { nowMs, overdueMs, list })),
      ...named('key', ...(mirror === null ? keys : [mirrorKeyVerdict(mirror)])),
    ]
    return { id: identity.id, found }
  } catch (error) {
    const reason = outsideReason(error)
    if (reason === undefined) throw error
    return { id: null, found: named('store', wrong(reason)) }
  }
}

function highWaterOf(db: DatabaseSync, data: string, keys: readonly SigningKey[]): CheckVerdict {
  const fault = faultAtStart(db, readHighWater(data), keys)
  if (fault === null) return ok('the log agrees with the last signed tree and the high-water mark')
  const says = textOfFault(fault)
  return isBehindCarrier(db, fault) ? note(`${says}; its table has the rest`) : wrong(says)
}

function diskOf(data: string): CheckVerdict {
  const free = freeBytes(data)
  const size = statSync(storePath(data)).size
  const says = `${formatBytes(free)} free, the store has ${formatBytes(size)}`
  if (free < FREE_BYTES_MIN) return wrong(`${says}: free some space; a full disk stops publishing`)
  return free < size
    ? warn(`${says}: check, import and a backup here need as much free space as the store has`)
    : ok(says)
}

function clockOf(headMs: number | null, context: CommandContext): CheckVerdict {
  const aheadMs = (headMs ?? 0) - context.now()
  return aheadMs > AHEAD_MS_MAX
    ? wrong(`the clock is ${formatAge(aheadMs)} behind the newest event: set it before publishing`)
    : ok('the clock is not behind the newest event')
}

/** Verdict on a mirror's key: there is none, and none is needed. */
export function mirrorKeyVerdict({ of }: MirrorMeta): CheckVerdict {
  return ok(`a mirror of ${of}: it signs nothing and has no key`)
}

/** Whether a key file is there, private, and signs the log of this origin. */
export function keyVerdict(
  file: string,
  origin: string,
  listed: readonly ListedKey[],
  context: CommandContext,
): CheckVerdict {
  try {
    if (!existsSync(file))
      return wrong(`${resolve(file)} is missing: bring its copy back, or see --accept-new-key of serve`)
    const vkey = vkeyOf(readKeyFile(file, context), origin)
    const key = listed.find((one) => one.vkey === vkey)
    if (key === undefined)
      return warn(`this log does not list the key in ${file}, which has signed nothing of it`)
    if (key.toSize !== null) return warn(`the key in ${file} signs no trees after size ${key.toSize}`)
    return ok(`${file} is private and signs this log`)
  } catch (error) {
    if (error instanceof CommandError) return wrong(error.message)
    throw error
  }
}

function openFilesOf(streamsMax: number, context: CommandContext): CheckVerdict {
  const limit = context.openFilesMax?.() ?? null
  const wanted = openFilesFor(streamsMax)
  if (limit === null) return note('the limit is not known on this system')
  const says = `the limit is ${limit}; ${streamsMax} streams need ${wanted}`
  return limit < wanted ? warn(`${says}: raise ulimit -n or lower --max-streams`) : ok(says)
}

/** Greatest age of the last backup in milliseconds: a day, plus two hours for a long backup. */
const BACKUP_AGE_MS_MAX: number = 26 * 60 * 60 * 1_000

/** Whether the last backup of a data directory is recent. */
function lastBackupOf(data: string, context: CommandContext): CheckVerdict {
  const last = readLastBackup(data)
  const command = backupCommandOf(context, data, 'FOLDER')
  if (last === null) return warn(`no verified backup was made: run ${command} each night`)
  const size = `${formatCount(last.events, 'event')}, ${formatBytes(last.bytes)}`
  return ageVerdict(context.now() - last.at, (age) => `the last verified one is ${age} old: ${size}`, command)
}

function ageVerdict(ageMs: number, says: (age: string) => string, command: string): CheckVerdict {
  const told = says(formatAge(ageMs))
  return ageMs > BACKUP_AGE_MS_MAX
    ? warn(`${told}; look why no newer one was made, or run ${command} now`)
    : ok(told)
}

/** Command that makes a backup. */
function backupCommandOf({ program }: CommandContext, data: string, to: string): string {
  return `${program} backup --data ${shellQuoted(data)} --to ${shellQuoted(to)}`
}

/** Log whose backups a folder should have, and its data directory; null for any log. */
type BackedUpLog = Readonly<{ id: string; data: string }>

/** Examines a folder of backups: age of the newest, file modes, keys, and whether it is on the same disk as the log. */
export function diagnoseBackups(
  folder: string,
  log: BackedUpLog | null,
  context: CommandContext,
): readonly Diagnosis[] {
  if (!isFolder(folder)) throw new UsageError(`--backups: ${shellQuoted(folder)} is no folder`)
  const backups = [...backupsIn(folder)].filter(
    ({ content }) => content !== null && (log === null || content.log === log.id),
  )
  const [newest] = backups
  const events = formatCount(newest?.content?.events ?? 0, 'event')
  const isSameDisk = log !== null && statSync(folder).dev === statSync(log.data).dev
  const elsewhere = `${folder} is on the disk of the log and is lost with it: copy it to another machine`
  return [
    ...named(
      'backups',
      newest === undefined
        ? wrong(`${folder} has no backup of this log`)
        : ageVerdict(
            context.now() - newest.atMs,
            (age) => `${backups.length} in ${folder}, the newest ${age} old with ${events}`,
            backupCommandOf(context, log?.data ?? 'DIR', folder),
          ),
      ...(context.hasFileModes ? modesOfBackups(folder, backups) : []),
    ),
    ...named('key', ...keysInside(folder)),
    ...named('backups', isSameDisk ? note(elsewhere) : null),
  ]
}

function modesOfBackups(folder: string, backups: readonly FolderBackup[]): readonly (CheckVerdict | null)[] {
  const open = backups.filter(({ path }) => (lstatSync(path).mode & OTHERS) !== 0)
  const [first] = open
  const more = open.length > 1 ? ` and ${open.length - 1} more` : ''
  const isOpen = (statSync(folder).mode & OTHERS) !== 0
  return [
    first === undefined
      ? null
      : wrong(`${first.path}${more} may be read by other users, with the refs: chmod 600`),
    isOpen ? warn(`${folder}: other users may look into it: chmod 700`) : null,
  ]
}

/** Bits of a file mode that let other users write. */
const OTHERS_WRITE = 0o022
/** Largest size in bytes of a file that may be a key. */
const KEY_BYTES_MAX = 16 * 1024
/** Most files of a directory that are checked. */
const FILES_MAX = 1_000

/** Modes of the files: other users must not write the store or read the token. */
function modesOf(data: string): readonly CheckVerdict[] {
  const files: readonly (readonly [path: string, forbidden: number, why: string])[] = [
    [data, OTHERS_WRITE, 'other users may write into it: chmod go-w'],
    [join(data, STORE_FILE), OTHERS_WRITE, 'other users may change history: chmod go-w'],
    [join(data, HIGH_WATER_FILE), OTHERS_WRITE, 'other users may change the mark: chmod go-w'],
    [join(data, TOKEN_FILE), OTHERS, 'other users may read it and publish: chmod 600, then change the token'],
  ]
  const found = files.flatMap(([path, forbidden, why]) => {
    const mode = statSync(path, { throwIfNoEntry: false })?.mode
    return mode === undefined || (mode & forbidden) === 0 ? [] : [wrong(`${path}: ${why}`)]
  })
  const parent = dirname(resolve(data))
  const { mode } = statSync(parent)
  // With the sticky bit, as in a temporary folder, only the owner of a file may rename it.
  const isShared = (mode & OTHERS_WRITE) !== 0 && (mode & 0o1000) === 0
  if (isShared) found.push(warn(`${parent}: other users may replace the data directory: chmod go-w`))
  return found.length > 0 ? found : [ok('only the owner may change the files')]
}

/** Verdicts on private keys among a folder's files. Every copy of the folder could sign with them. */
function keysInside(folder: string): readonly CheckVerdict[] {
  return filesIn(folder, (name) => name !== STORE_FILE).flatMap(({ path, size }) => {
    if (size > KEY_BYTES_MAX || !isPrivateKey(path)) return []
    const says = `${printable(path)} is a private key beside the log: move it away, or every copy of the folder can sign`
    return [wrong(says)]
  })
}

function isPrivateKey(path: string): boolean {
  try {
    return /-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY-----/.test(readStart(path, KEY_BYTES_MAX))
  } catch {
    // The service does not use a key file that this user may not read.
    return false
  }
}

/** Verdicts on stores that an upgrade or a restore has kept, which only take space now. */
function keptStores(data: string, { program, now }: CommandContext): readonly CheckVerdict[] {
  return filesIn(data, (name) => /^daybook\.db\.(?:schema-|replaced-)/.test(name)).map(
    ({ path, size, mtimeMs }) => {
      const by = path.includes('.db.schema-') ? 'an upgrade' : 'a restore'
      const remove =
        by === 'an upgrade' ? `${program} upgrade --data ${shellQuoted(data)} --remove-old` : 'rm'
      const remedy = `remove it when all is well, with ${remove}`
      const age = formatAge(now() - mtimeMs)
      return note(`${path} was kept by ${by}: ${formatBytes(size)}, ${age} old; ${remedy}`)
    },
  )
}

/** Ordinary files of a folder, without following links. */
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
