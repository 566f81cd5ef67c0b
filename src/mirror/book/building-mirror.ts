import { lstatSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import type { LogIdentity } from '../../log/store/reader.ts'
import { writeMirrorMeta } from '../../log/store/mirror-meta.ts'
import { BUILDING_TXS, EVENT_INDEXES, SCHEMA_VERSION } from '../../log/store/store-schema.ts'
import { createStore, openAnySchema, readIdentity, storePath, storeSchema } from '../../log/store/store.ts'
import { renameDurably } from '../../log/store/durable-rename.ts'
import type { ListedKey } from '../../log/store/reader.ts'
import type { Pins } from '../proof/origin-keys.ts'
import { removeStore } from '../../log/store/store-files.ts'

const CACHE_KIB = 64 * 1024
const STATE_KEY = 'mirroring'

/** Progress of a build, a row of `meta` that changes in the transaction of each step. */
type BuildingState = Readonly<{ version: string; stage: 'events' | 'proving' }>

/** The store of a mirror that is being built. Nothing serves it before it has the name of the store. */
export type BuildingMirror = Readonly<{
  path: string
  db: DatabaseSync
  /** Whether an interrupted build began this store. */
  resumed: boolean
  /** Sorts and indexes the events, in one transaction. Nothing can be added with `index` twice. */
  index(): void
  /** Gives the store its settings and its name. */
  finish(): void
  close(): void
}>

/** Path of the store that is being built for a data directory. */
function buildingMirrorPath(dataDirectory: string): string {
  return `${storePath(dataDirectory)}.mirroring`
}

export function removeBuildingMirror(dataDirectory: string): void {
  removeStore(buildingMirrorPath(dataDirectory))
}

/** Opens the store that an interrupted build of the same version and log has left, or an empty one. */
export function openBuildingMirror(
  dataDirectory: string,
  version: string,
  identity: LogIdentity,
  mirror: Readonly<{ of: string; pins: Pins }>,
): BuildingMirror {
  const path = buildingMirrorPath(dataDirectory)
  const left = leftBuild(path, version, identity)
  if (left !== null) return building(dataDirectory, path, left, true)
  removeBuildingMirror(dataDirectory)
  createStore(path, identity, identity)
  const db = openFile(path)
  db.exec(`BEGIN IMMEDIATE; ${BUILDING_TXS.gather}; ${EVENT_INDEXES.drop}`)
  writeMirrorMeta(db, { of: mirror.of, ...mirror.pins, held: null })
  note(db, { version, stage: 'events' })
  db.exec('COMMIT')
  return building(dataDirectory, path, db, false)
}

function building(dataDirectory: string, path: string, db: DatabaseSync, resumed: boolean): BuildingMirror {
  return {
    path,
    db,
    resumed,
    index() {
      const state = readState(db)
      if (state === undefined || state.stage === 'proving') return
      db.exec(`BEGIN IMMEDIATE; ${BUILDING_TXS.sort}; ${EVENT_INDEXES.create}`)
      note(db, { ...state, stage: 'proving' })
      db.exec('COMMIT')
    },
    finish() {
      db.prepare('DELETE FROM meta WHERE key = ?').run(STATE_KEY)
      db.exec('PRAGMA main.locking_mode = NORMAL; PRAGMA journal_mode = WAL')
      db.close()
      renameDurably(path, storePath(dataDirectory))
    },
    close() {
      if (db.isOpen) db.close()
    },
  }
}

function leftBuild(path: string, version: string, identity: LogIdentity): DatabaseSync | null {
  // A link may lead to a file that is not ours to change.
  if (lstatSync(path, { throwIfNoEntry: false })?.isFile() !== true) return null
  let db: DatabaseSync | undefined
  try {
    db = openFile(path)
    const state = readState(db)
    const isSame =
      storeSchema(db) === SCHEMA_VERSION &&
      state?.version === version &&
      JSON.stringify(readIdentity(db)) === JSON.stringify(identity)
    if (isSame) return db
  } catch {
    // A file of any other kind is built anew.
  }
  db?.close()
  return null
}

/** The journal holds only pages that were in the file before a transaction, so added pages are written once. */
function openFile(path: string): DatabaseSync {
  const db = openAnySchema(path, { readOnly: false })
  try {
    db.exec(`PRAGMA main.locking_mode = EXCLUSIVE; PRAGMA journal_mode = TRUNCATE; PRAGMA synchronous = FULL;
      PRAGMA cache_size = -${CACHE_KIB}; PRAGMA temp_store = FILE; PRAGMA foreign_keys = OFF`)
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

function note(db: DatabaseSync, state: BuildingState): void {
  db.prepare('INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)').run(STATE_KEY, JSON.stringify(state))
}

function readState(db: DatabaseSync): BuildingState | undefined {
  const value = db.prepare('SELECT value FROM meta WHERE key = ?').get(STATE_KEY)?.['value']
  return typeof value === 'string' ? JSON.parse(value) : undefined
}

/** Writes the keys of the origin's log over those of the store. Must be called in a transaction. */
export function writeListedKeys(db: DatabaseSync, listed: readonly ListedKey[]): void {
  db.exec('DELETE FROM signing_keys')
  const insert = db.prepare(
    'INSERT INTO signing_keys (vkey, from_size, to_size, statement) VALUES (?, ?, ?, ?)',
  )
  for (const { vkey, fromSize, toSize, statement } of listed) insert.run(vkey, fromSize, toSize, statement)
}
