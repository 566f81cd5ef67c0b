import { statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { readHighWater, HIGH_WATER_FILE } from '../../log/store/high-water.ts'
import { faultAtStart } from '../../log/tree/log-fault.ts'
import { openReader } from '../../log/open-reader.ts'
import type { ListedKey } from '../../log/store/reader.ts'
import { readKeys } from '../../log/tree/signing-keys.ts'
import { openForReading, STORE_FILE, storePath } from '../../log/store/store.ts'
import { textOfFault } from '../service/background-audit.ts'
import { openFilesFor } from '../service/connection-limit.ts'
import type { Diagnosis } from './diagnosis.ts'
import { lastBackupDiagnosis } from './doctor-backup.ts'
import { heldDiagnosis } from './doctor-held.ts'
import { note, ok, warn, wrong } from './diagnosis.ts'
import { formatAge, formatBytes } from '../terminal/rounded-quantity.ts'
import { freeBytes } from '../terminal/option-paths.ts'
import { requireLog } from '../operator/log-options.ts'
import { TOKEN_FILE } from '../operator/token-file.ts'
import { defaultKeyFile, OTHERS, readKeyFile, vkeyOf } from '../operator/signing-key-file.ts'
import type { World } from '../terminal/world.ts'
import { CommandError } from '../terminal/world.ts'

/** Free bytes below which publishing may soon stop: a commit may write tens of KiB, and the write-ahead log grows. */
const FREE_BYTES_MIN: number = 256 * 1024 * 1024
/** Most milliseconds by which the newest event may be ahead of the clock: two readings of a clock differ by less. */
const AHEAD_MS_MAX = 1_000
/** Bits of a file mode that let other users write. */
const OTHERS_WRITE = 0o022

type DirectorySettings = Readonly<{
  data: string
  keyFiles: readonly string[] | null
  streamsMax: number
}>

/** Examines a data directory from outside of the service, which may be running. */
export function diagnoseDirectory(
  { data, keyFiles, streamsMax }: DirectorySettings,
  world: World,
): readonly Diagnosis[] {
  requireLog(data)
  const db = openForReading(storePath(data))
  try {
    const reader = openReader(data, null)
    const { identity } = reader
    const head = reader.head()
    const waiting = reader.snapshot((snapshot) => snapshot.held())
    reader.close()
    const fault = faultAtStart(db, readHighWater(data))
    const age = head.atMs === null ? '' : `, the newest ${formatAge(world.now() - head.atMs)} old`
    return [
      note('log', `${identity.origin} (${identity.chain}), ${head.seq} events${age}`),
      fault === null
        ? ok('high-water', 'the log agrees with the last signed tree and the high-water mark')
        : wrong('high-water', textOfFault(fault)),
      diskOf(data),
      lastBackupDiagnosis(data, world.now()),
      clockOf(head.atMs, world),
      heldDiagnosis({ ...waiting, oldestAtMs: waiting.oldestMs }, world.now()),
      ...(keyFiles ?? [defaultKeyFile(data)]).map((file) =>
        keyOf(file, data, identity.origin, readKeys(db), world),
      ),
      ...(world.hasFileModes ? modesOf(data) : []),
      openFilesOf(streamsMax, world),
    ]
  } finally {
    db.close()
  }
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

function keyOf(
  file: string,
  data: string,
  origin: string,
  listed: readonly ListedKey[],
  world: World,
): Diagnosis {
  try {
    const vkey = vkeyOf(readKeyFile(file, world), origin)
    const key = listed.find((one) => one.vkey === vkey)
    if (`${resolve(file)}/`.startsWith(`${resolve(data)}/`)) {
      return warn('key', `${file} is in the data directory: move it, or every copy of the directory can sign`)
    }
    if (key === undefined)
      return warn('key', `this log does not list the key in ${file}, which has signed nothing of it`)
    if (key.toSize !== null) return warn('key', `the key in ${file} signs no trees after size ${key.toSize}`)
    return ok('key', `${file} is private and signs this log`)
  } catch (error) {
    if (error instanceof CommandError) return wrong('key', error.message)
    throw error
  }
}

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
