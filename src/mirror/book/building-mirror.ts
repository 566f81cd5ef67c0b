import { existsSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { renameDurably } from '../../log/store/durable-rename.ts'
import { writeMirrorMeta } from '../../log/store/mirror-meta.ts'
import type { LogIdentity } from '../../log/store/reader.ts'
import { BUILDING_TXS, EVENT_INDEXES, SCHEMA_VERSION } from '../../log/store/store-schema.ts'
import {
  createStore,
  readIdentity,
  refuseLeftJournal,
  storePath,
  storeSchema,
} from '../../log/store/store.ts'
import { openBuildRow, openLeft, openUnfinished } from '../../log/unfinished-store.ts'
import type { Ms } from '../../protocol/moment.ts'
import { mirrorMetaOf } from './mirror-rows.ts'
import type { Pins } from '../proof/origin-keys.ts'
import { removeStore } from '../../log/store/store-files.ts'

/** Progress of a build. */
type BuildingState = Readonly<{ version: string; stage: 'events' | 'proving' }>

const PROGRESS = openBuildRow<BuildingState>('mirroring')

/** Store of a mirror while it is built. Nothing serves it before it has the name of the store. */
export type BuildingMirror = Readonly<{
  path: string
  db: DatabaseSync
  /** Whether an interrupted build began this store. */
  resumed: boolean
  /** Sorts and indexes the events, in one transaction. Must be called once at most. */
  index(): void
  /** Gives the store its settings and its name. `now` is the time of the proof. */
  finish(now: Ms): void
  close(): void
}>

/** Path of the store that is being built for a data directory. */
function buildingMirrorPath(dataDirectory: string): string {
  return `${storePath(dataDirectory)}.mirroring`
}

/** Whether an interrupted build has left a store in a data directory. */
export function hasBuildingMirror(dataDirectory: string): boolean {
  return existsSync(buildingMirrorPath(dataDirectory))
}

export function removeBuildingMirror(dataDirectory: string): void {
  removeStore(buildingMirrorPath(dataDirectory))
}

/** Opens the store of an interrupted build of the same version and log, or an empty one. */
export function openBuildingMirror(
  dataDirectory: string,
  version: string,
  identity: LogIdentity,
  mirror: Readonly<{ of: string; pins: Pins }>,
): BuildingMirror {
  refuseLeftJournal(storePath(dataDirectory))
  const path = buildingMirrorPath(dataDirectory)
  const left = openLeft(path, (db) => isOf(db, version, identity))
  if (left !== null) return building(dataDirectory, path, left, true)
  removeBuildingMirror(dataDirectory)
  createStore(path, identity, identity)
  const db = openUnfinished(path)
  db.exec(`BEGIN IMMEDIATE; ${BUILDING_TXS.gather}; ${EVENT_INDEXES.drop}`)
  writeMirrorMeta(db, { of: mirror.of, ...mirror.pins, held: null, provedAt: null, contactAt: null })
  PROGRESS.note(db, { version, stage: 'events' })
  db.exec('COMMIT')
  return building(dataDirectory, path, db, false)
}

function building(dataDirectory: string, path: string, db: DatabaseSync, resumed: boolean): BuildingMirror {
  return {
    path,
    db,
    resumed,
    index() {
      const state = PROGRESS.read(db)
      if (state === undefined || state.stage === 'proving') return
      db.exec(`BEGIN IMMEDIATE; ${BUILDING_TXS.sort}; ${EVENT_INDEXES.create}`)
      PROGRESS.note(db, { ...state, stage: 'proving' })
      db.exec('COMMIT')
    },
    finish(now) {
      writeMirrorMeta(db, { ...mirrorMetaOf(db, dataDirectory), provedAt: now, contactAt: now })
      PROGRESS.finish(db)
      renameDurably(path, storePath(dataDirectory))
    },
    close() {
      if (db.isOpen) db.close()
    },
  }
}

/** Whether a build of this version and log has left the store. */
function isOf(db: DatabaseSync, version: string, identity: LogIdentity): boolean {
  return (
    storeSchema(db) === SCHEMA_VERSION &&
    PROGRESS.read(db)?.version === version &&
    JSON.stringify(readIdentity(db)) === JSON.stringify(identity)
  )
}
