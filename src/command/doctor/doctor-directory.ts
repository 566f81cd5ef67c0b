import type { DatabaseSync } from 'node:sqlite'
import { existsSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { readHighWater } from '../../log/store/high-water.ts'
import { faultAtStart, isBehindCarrier, type LogFault } from '../../log/tree/log-fault.ts'
import { openReader } from '../../log/open-reader.ts'
import type { ListedKey } from '../../log/store/reader.ts'
import { type MirrorMeta, readMirrorMeta } from '../../log/store/mirror-meta.ts'
import { readKeys } from '../../log/tree/signing-keys.ts'
import { openForReading, storePath } from '../../log/store/store.ts'
import { textOfFault } from '../service/background-audit.ts'
import { openFilesFor } from '../service/connection-limit.ts'
import { type Diagnosis, note, ok, warn, wrong } from './diagnosis.ts'
import { backupsDiagnosis, lastBackupDiagnosis } from './doctor-backup.ts'
import { keptStores, keysInside, modesOf } from './doctor-files.ts'
import { heldDiagnosis } from './doctor-held.ts'
import { formatAge, formatBytes } from '../terminal/rounded-quantity.ts'
import { freeBytes } from '../../log/store/disk-probe.ts'
import { namesNoSite, requireLog } from '../operator/log-options.ts'
import { defaultKeyFile, readableKeys, readKeyFile, vkeyOf } from '../operator/signing-key-file.ts'
import { TOKEN_FILE } from '../operator/token-file.ts'
import { shellQuoted } from '../terminal/output.ts'
import { CommandError, outsideReason, type World } from '../terminal/world.ts'
import { formatCount } from '../../protocol/amount.ts'

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
export function diagnoseDirectory(settings: DirectorySettings, world: World): readonly Diagnosis[] {
  const { data, backups, streamsMax } = settings
  requireLog(data)
  const { id, found } = diagnoseStore(settings, world)
  return [
    ...found,
    diskOf(data),
    lastBackupDiagnosis(data, world),
    ...(backups === null ? [] : backupsDiagnosis(backups, id === null ? null : { id, data }, world)),
    ...keysInside(data),
    ...keptStores(data, world),
    ...(world.hasFileModes ? modesOf(data) : []),
    openFilesOf(streamsMax, world),
  ]
}

type StoreDiagnosis = Readonly<{ id: string | null; found: readonly Diagnosis[] }>

/** Examines the store. One that cannot be opened, such as that of an older Daybook, is a finding of its own. */
function diagnoseStore(settings: DirectorySettings, world: World): StoreDiagnosis {
  let db: DatabaseSync | undefined
  try {
    db = openForReading(storePath(settings.data))
    return diagnoseOpenStore(db, settings, world)
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
  world: World,
): StoreDiagnosis {
  const reader = openReader(data, null)
  const { identity } = reader
  const head = reader.head()
  const waiting = reader.snapshot((snapshot) => snapshot.held())
  reader.close()
  const fault = faultAtStart(db, readHighWater(data), readableKeys(keyFiles, data, world))
  const age = head.atMs === null ? '' : `, the newest ${formatAge(world.now() - head.atMs)} old`
  const purpose = namesNoSite(identity.origin) ? ', not for the public' : ''
  const mirror = readMirrorMeta(db)
  const found = [
    note('log', `${identity.origin} (${identity.chain})${purpose}, ${formatCount(head.seq, 'event')}${age}`),
    highWaterOf(db, fault),
    clockOf(head.atMs, world),
    heldDiagnosis(
      { ...waiting, oldestAtMs: waiting.oldestMs },
      {
        nowMs: world.now(),
        overdueMs,
        list: `${world.program} held --token-file ${shellQuoted(join(data, TOKEN_FILE))}`,
      },
    ),
    ...(mirror === null
      ? (keyFiles ?? [defaultKeyFile(data)]).map((file) =>
          keyDiagnosis(file, identity.origin, readKeys(db), world),
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

function clockOf(headMs: number | null, world: World): Diagnosis {
  const aheadMs = (headMs ?? 0) - world.now()
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
  world: World,
): Diagnosis {
  try {
    if (!existsSync(file))
      return wrong(
        'key',
        `${resolve(file)} is missing: bring its copy back, or see --accept-new-key of serve`,
      )
    const vkey = vkeyOf(readKeyFile(file, world), origin)
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

function openFilesOf(streamsMax: number, world: World): Diagnosis {
  const limit = world.openFilesMax?.() ?? null
  const wanted = openFilesFor(streamsMax)
  if (limit === null) return note('open files', 'the limit is not known on this system')
  return limit < wanted
    ? warn(
        'open files',
        `the limit is ${limit}; ${streamsMax} streams need ${wanted}: raise ulimit -n or lower --max-streams`,
      )
    : ok('open files', `the limit is ${limit}; ${streamsMax} streams need ${wanted}`)
}
