import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'
import { readHighWater } from '../../log/store/high-water.ts'
import { lockDirectory, LockedError } from '../../log/store/lock.ts'
import { isFull } from '../../log/store/sqlite-error.ts'
import { OLDEST_SCHEMA, SCHEMA_VERSION } from '../../log/store/store-schema.ts'
import { hasStore, refusalOf, StoreError, storePath } from '../../log/store/store.ts'
import { faultAtStart, headOf, isBehindCarrier, type LogFault } from '../../log/tree/log-fault.ts'
import type { SigningKey } from '../../log/tree/signer.ts'
import {
  type BuildingStore,
  type BuildProgress,
  openBuilding,
  openOldStore,
  type OldStore,
} from './build-upgrade.ts'
import { removeStore } from '../../log/store/store-files.ts'
import { emptyJournal, keptPath, lockUpgrades, refuseKept, swapStores } from './swap-stores.ts'
import { statSync } from 'node:fs'
import { freeBytes } from '../../log/store/disk-probe.ts'

/** Progress of an upgrade. `waiting`: the new store is ready, and an older Daybook still serves the old one. */
export type UpgradeProgress =
  | BuildProgress
  | Readonly<{ stage: 'waiting' | 'proving' | 'linking' | 'renaming'; done: number; total: number }>

/**
 * Plan of an upgrade and its disk space, reported before it begins. `lost` counts the published events that the store
 * lacks. The mark stays, so that the next start refuses the loss or has it accepted. Only a store of the current schema
 * can begin a new log.
 */
export type UpgradeForecast = UpgradeRoom &
  Readonly<{ from: number; to: number; events: number; lost: LogFault | null }>

export type UpgradeSettings = Readonly<{
  dataDirectory: string
  /** Known keys that sign the log. A store from before a change of keys does not list the new one. */
  keys: readonly SigningKey[]
  /** Version of this Daybook, which continues only builds of the same version. */
  version: string
  /** Whether to rebuild a store of the current schema too. */
  rebuild: boolean
  /** Longest wait for a service that uses the directory, in milliseconds; null without limit. */
  waitMs: number | null
  monotonicMs(): number
  onForecast(forecast: UpgradeForecast): void
  onProgress(progress: UpgradeProgress): void
  signal: AbortSignal
}>

/** Result of an upgrade. `lockedMs`: time during which no service could use the directory. */
export type UpgradeReport = Readonly<{
  from: number
  to: number
  events: number
  /** Path of the old store. */
  kept: string
  seconds: number
  lockedMs: number
}>

/**
 * Brings the store of a data directory to the current schema; null when there is nothing to upgrade. Builds and proves
 * the new store beside the old one, which an older Daybook may continue to serve. Then replaces the old one and keeps
 * it. The old store stays whole until then, and the next run continues after any interruption.
 */
export async function upgradeStore(settings: UpgradeSettings): Promise<UpgradeReport | null> {
  const { dataDirectory } = settings
  if (!hasStore(dataDirectory)) throw new StoreError(`${dataDirectory} holds no log`)
  const store = storePath(dataDirectory)
  // The lock file stays. If it were removed, one process could lock the removed file and another a new one.
  using _lock = lockUpgrades(dataDirectory)
  const old = openOldStore(store)
  try {
    if (old.schema === SCHEMA_VERSION && !settings.rebuild) {
      removeStore(buildingPath(store))
      return null
    }
    if (old.schema < OLDEST_SCHEMA || old.schema > SCHEMA_VERSION)
      throw new StoreError(refusalOf(old.db, old.schema))
    return await upgradeOld(settings, old)
  } finally {
    old.close()
  }
}

function buildingPath(store: string): string {
  return `${store}.upgrading`
}

async function upgradeOld(settings: UpgradeSettings, old: OldStore): Promise<UpgradeReport> {
  const beganMs = settings.monotonicMs()
  const kept = keptPath(old.path, old.schema)
  refuseKept(old.path, kept)
  // The mark is read first, because it is never ahead of the store.
  const mark = readHighWater(settings.dataDirectory)
  const fault = faultAtStart(old.db, mark, settings.keys)
  if (fault !== null && !fault.lost)
    throw new StoreError(`seq ${fault.seq}: ${fault.reason}. Restore the newest backup first`)
  const path = buildingPath(old.path)
  const lost = fault !== null && isBehindCarrier(old.db, fault) ? null : fault
  const needBytes = Math.max(0, newBytesOf(old.path) - bytesOf(path))
  const room = { needBytes, freeBytes: freeBytes(old.path) }
  settings.onForecast({ from: old.schema, to: SCHEMA_VERSION, events: headOf(old.db), lost, ...room })
  if (room.freeBytes < needBytes)
    throw new StoreError(
      `the upgrade needs ${megabytes(needBytes)} of free disk, and ${megabytes(room.freeBytes)} are free: make room and upgrade again`,
    )
  const building = openBuilding(path, old, settings.version)
  try {
    for (const progress of building.build()) {
      settings.onProgress(progress)
      // Signals are handled only between turns of the event loop.
      await turn()
      settings.signal.throwIfAborted()
      refuseNearlyFull(old.path, path)
    }
    using _directory = await directoryLock(settings, building)
    const lockedFrom = settings.monotonicMs()
    building.complete()
    const events = building.head()
    const notify = (stage: 'proving' | 'linking' | 'renaming'): void =>
      settings.onProgress({ stage, done: events, total: events })
    notify('proving')
    building.prove(readHighWater(settings.dataDirectory), settings.keys)
    old.close()
    emptyJournal(old.path)
    building.finish()
    swapStores(old.path, path, kept, notify)
    const endedMs = settings.monotonicMs()
    const seconds = (endedMs - beganMs) / 1000
    return { from: old.schema, to: SCHEMA_VERSION, events, kept, seconds, lockedMs: endedMs - lockedFrom }
  } catch (error) {
    if (!isFull(error)) throw error
    building.close()
    removeStore(path)
    throw new StoreError(
      `the disk was full, so the new store was removed, and the old one is unchanged: make room and upgrade again`,
      { cause: error },
    )
  } finally {
    building.close()
  }
}

/** Milliseconds between two attempts to lock the directory, and attempts between two checks for new events. */
const RETRY_MS = 50
const FOLLOWED_EVERY = 10

/** Waits until no service uses the directory. Carries over newly published events meanwhile. */
async function directoryLock(settings: UpgradeSettings, building: BuildingStore): Promise<Disposable> {
  const { dataDirectory, signal, monotonicMs, waitMs, onProgress } = settings
  const fromMs = monotonicMs()
  for (let attempts = 0; ; attempts += 1) {
    signal.throwIfAborted()
    try {
      return lockDirectory(dataDirectory)
    } catch (error) {
      if (!(error instanceof LockedError)) throw error
    }
    if (waitMs !== null && monotonicMs() - fromMs >= waitMs)
      throw new LockedError(
        'the new store is ready, and a service still uses the directory: stop it and upgrade again',
      )
    if (attempts % FOLLOWED_EVERY === 0) {
      building.follow()
      onProgress({ stage: 'waiting', done: building.head(), total: building.head() })
    }
    await sleep(RETRY_MS)
  }
}

/** Disk space that an upgrade needs, and free disk space, in bytes. */
type UpgradeRoom = Readonly<{ needBytes: number; freeBytes: number }>

/** Most bytes of a new store for each byte of the old one. */
const GROWTH = 1.25
/** Bytes that a small store needs too. */
const LEAST_BYTES = 4 * 1024 * 1024
/** Share of the new store's bytes that must stay free, so that a service can continue to publish. */
const RESERVE = 1 / 20

/** Throws when little disk space is left, because a service publishes on the same disk. The unfinished store stays. */
function refuseNearlyFull(store: string, building: string): void {
  if (freeBytes(building) >= newBytesOf(store) * RESERVE) return
  throw new StoreError(
    'the disk is nearly full, and the rest is left to the service: make room and upgrade again, which continues',
  )
}

function newBytesOf(store: string): number {
  return Math.ceil((bytesOf(store) + bytesOf(`${store}-wal`)) * GROWTH) + LEAST_BYTES
}

function bytesOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}

function megabytes(bytes: number): string {
  return `${Math.ceil(bytes / 1e6)} MB`
}
