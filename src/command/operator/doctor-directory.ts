import { statfsSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { readHighWater, HIGH_WATER_FILE } from '../../log/store/high-water.ts'
import { faultAtStart } from '../../log/tree/log-fault.ts'
import { openReader } from '../../log/open-reader.ts'
import type { ListedKey } from '../../log/store/reader.ts'
import { readKeys } from '../../log/tree/signing-keys.ts'
import { hasStore, openForReading, STORE_FILE, storePath } from '../../log/store/store.ts'
import { textOfFault } from '../service/background-audit.ts'
import { openFilesFor } from '../service/connection-limit.ts'
import type { Diagnosis } from './diagnosis.ts'
import { formatAge, formatBytes, note, ok, warn, wrong } from './diagnosis.ts'
import { TOKEN_FILE } from './serve.ts'
import { defaultKeyFile, OTHERS, readKeyFile, vkeyOf } from './signing-key-file.ts'
import type { World } from '../terminal/world.ts'
import { CommandError } from '../terminal/world.ts'

/** Free bytes below which publishing stops soon; a commit may write tens of KiB, and the write-ahead log grows. */
const FREE_BYTES_MIN: number = 256 * 1024 * 1024
/** How far the newest event may lie ahead of the clock: two clocks read one after the other differ by less. */
const AHEAD_MS_MAX = 1_000
/** The bits of a mode that let others write. */
const OTHERS_WRITE = 0o022

type DirectorySettings = Readonly<{
  data: string
  keyFiles: readonly string[] | null
  streamsMax: number
}>

/** What can be said of a data directory from outside of the service, also while it is served. */
export function diagnoseDirectory(
  { data, keyFiles, streamsMax }: DirectorySettings,
  world: World,
): readonly Diagnosis[] {
  if (!hasStore(data)) throw new CommandError(2, `${data} holds no log`)
  const db = openForReading(storePath(data))
  try {
    const reader = openReader(data, null)
    const { identity } = reader
    const head = reader.head()
    reader.close()
    const fault = faultAtStart(db, readHighWater(data))
    const age = head.atMs === null ? '' : `, the newest ${formatAge(world.now() - head.atMs)} old`
    return [
      note('log', `${identity.origin} (${identity.chain}), ${head.seq} events${age}`),
      fault === null
        ? ok('high-water', 'the log is what was last shown and signed')
        : wrong('high-water', textOfFault(fault)),
      diskOf(data),
      clockOf(head.atMs, world),
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
  const { bsize, bavail } = statfsSync(data)
  const free = bsize * bavail
  const size = statSync(storePath(data)).size
  const says = `${formatBytes(free)} free, the store has ${formatBytes(size)}`
  if (free < FREE_BYTES_MIN) return wrong('disk', `${says}: publishing stops when it is full`)
  if (free < size)
    return warn('disk', `${says}: check, import and a backup here need as much as the store again`)
  return ok('disk', says)
}

function clockOf(headMs: number | null, world: World): Diagnosis {
  const aheadMs = (headMs ?? 0) - world.now()
  return aheadMs > AHEAD_MS_MAX
    ? wrong('clock', `it is ${formatAge(aheadMs)} behind the newest event: set it right before publishing`)
    : ok('clock', 'it is not behind the newest event')
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
      return warn('key', `${file} lies in the data directory: whoever has a copy of it can sign`)
    }
    if (key === undefined)
      return warn('key', `${file} is not listed in this log, and has signed nothing of it`)
    if (key.toSize !== null) return warn('key', `${file} signs no more since size ${key.toSize}`)
    return ok('key', `${file} is private and signs this log`)
  } catch (error) {
    if (error instanceof CommandError) return wrong('key', error.message)
    throw error
  }
}

/** Nobody else may write what the service believes, or read what opens its door. */
function modesOf(data: string): readonly Diagnosis[] {
  const files: readonly (readonly [path: string, forbidden: number, why: string])[] = [
    [data, OTHERS_WRITE, 'others may write into it: chmod go-w'],
    [join(data, STORE_FILE), OTHERS_WRITE, 'others may change history: chmod go-w'],
    [join(data, HIGH_WATER_FILE), OTHERS_WRITE, 'others may change the mark: chmod go-w'],
    [join(data, TOKEN_FILE), OTHERS, 'others may read it and publish: chmod 600, then change the token'],
  ]
  const found = files.flatMap(([path, forbidden, why]) => {
    const mode = statSync(path, { throwIfNoEntry: false })?.mode
    return mode === undefined || (mode & forbidden) === 0 ? [] : [wrong('modes', `${path}: ${why}`)]
  })
  const parent = dirname(resolve(data))
  const { mode } = statSync(parent)
  // With the sticky bit, as in a temporary folder, only an owner may rename what is inside.
  const isShared = (mode & OTHERS_WRITE) !== 0 && (mode & 0o1000) === 0
  const above = isShared
    ? [warn('modes', `${parent}: others may put another directory in the place of this one`)]
    : []
  return found.length + above.length > 0
    ? [...found, ...above]
    : [ok('modes', 'files are their owner’s alone to change')]
}

function openFilesOf(streamsMax: number, world: World): Diagnosis {
  const limit = world.openFilesMax?.() ?? null
  const wanted = openFilesFor(streamsMax)
  if (limit === null) return note('open files', 'their limit cannot be known here')
  return limit < wanted
    ? warn('open files', `${limit} here; ${streamsMax} streams want ${wanted}: ulimit -n, or --max-streams`)
    : ok('open files', `${limit} here, and ${streamsMax} streams want ${wanted}`)
}
