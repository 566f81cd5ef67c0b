import { lstatSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import type { DatabaseSync } from 'node:sqlite'
import { giveOwnerAndMode } from '../../log/store/file-owner.ts'
import { BUILDING_TXS, EVENT_INDEXES, SCHEMA_VERSION } from '../../log/store/store-schema.ts'
import { createStore, openAnySchema, readIdentity, storeSchema } from '../../log/store/store.ts'
import { headOf } from '../../log/tree/log-fault.ts'
import { haveSameTree } from '../../log/tree/stored-tree.ts'
import type { OldStore } from './old-store.ts'
import { removeStore } from '../../log/store/store-files.ts'
import { inTransaction } from '../../log/store/in-transaction.ts'

const CACHE_KIB = 64 * 1024

/** Progress of a build. It is a row of `meta`, which changes in the transaction of each step. */
export type BuildState = Readonly<{
  /** Version of Daybook that builds. Another one may compute other rows, so it begins again. */
  version: string
  /** Schema of the old store. */
  from: number
  /** In this order. `following`: the store is complete but for the newest events. */
  stage: 'events' | 'refs' | 'indexes' | 'comparing' | 'following'
  /** The refs of events up to this seq are carried over. */
  refsTo: number
  /** Events up to this seq are compared with the old store. */
  comparedTo: number
}>

/** The new store of an upgrade, beside the old one. No other process can open it. */
export type BuildingStore = Readonly<{
  db: DatabaseSync
  state(): BuildState
  /** Writes the state, in the caller's transaction. */
  note(state: BuildState): void
  /** Makes a change in one durable transaction, with the old store attached as `old`. Its write-ahead log is not reset before the change ends. */
  besideOld<T>(change: () => T): T
  /** Whether an interrupted upgrade began this store. */
  resumed: boolean
  close(): void
}>

/**
 * Opens the new store of an upgrade: the one that an interrupted upgrade has left, if it is of this log and its tree is
 * a part of the old one, or else an empty one. Commits are durable, and a crash loses the newest transaction at most.
 */
export function openBuilding(path: string, old: OldStore, version: string): BuildingStore {
  const left = leftStore(path, old, version)
  if (left !== null) return building(left, old, true)
  removeStore(path)
  const identity = readIdentity(old.db)
  createStore(path, identity, identity)
  giveOwnerAndMode(path, old.path)
  const db = openFile(path)
  const store = building(db, old, false)
  inTransaction(db, () => {
    db.exec(`${BUILDING_TXS.gather}; ${EVENT_INDEXES.drop}`)
    store.note({ version, from: old.schema, stage: 'events', refsTo: 0, comparedTo: 0 })
  })
  return store
}

function building(db: DatabaseSync, old: OldStore, resumed: boolean): BuildingStore {
  return {
    db,
    resumed,
    besideOld(change) {
      db.prepare('ATTACH ? AS old').run(`${pathToFileURL(old.path).href}?mode=ro`)
      try {
        return inTransaction(db, change)
      } finally {
        db.exec('DETACH old')
      }
    },
    state() {
      const state = readState(db)
      if (state === undefined) throw new Error('a store that is being built has a state')
      return state
    },
    note(state) {
      db.prepare('INSERT OR REPLACE INTO main.meta (key, value) VALUES (?, ?)').run(
        STATE_KEY,
        JSON.stringify(state),
      )
    },
    close: () => db.close(),
  }
}

/** The store of an interrupted upgrade; null when there is none that can be continued. */
function leftStore(path: string, old: OldStore, version: string): DatabaseSync | null {
  // A link may lead to a file that is not ours to change.
  if (lstatSync(path, { throwIfNoEntry: false })?.isFile() !== true) return null
  let db: DatabaseSync | undefined
  try {
    giveOwnerAndMode(path, old.path)
    db = openFile(path)
    if (canContinue(db, old, version)) return db
  } catch {
    // A file of any other kind is built again.
  }
  db?.close()
  return null
}

function canContinue(db: DatabaseSync, old: OldStore, version: string): boolean {
  const state = readState(db)
  if (storeSchema(db) !== SCHEMA_VERSION || state?.version !== version || state.from !== old.schema)
    return false
  const [identity, oldIdentity] = [readIdentity(db), readIdentity(old.db)]
  const size = headOf(db)
  if (identity.id !== oldIdentity.id || size > headOf(old.db)) return false
  return size === 0 || haveSameTree(db, old.db, size)
}

/**
 * Opens the connection. The journal holds only pages that were in the file before a transaction, so pages added at its
 * end are written once. A write-ahead log would hold each page twice.
 */
function openFile(path: string): DatabaseSync {
  const db = openAnySchema(path, { readOnly: false })
  try {
    // Without `main.` the old store would be locked exclusively too when it is attached.
    db.exec(`PRAGMA main.locking_mode = EXCLUSIVE; PRAGMA journal_mode = TRUNCATE; PRAGMA synchronous = FULL;
      PRAGMA cache_size = -${CACHE_KIB}; PRAGMA temp_store = FILE; PRAGMA foreign_keys = OFF`)
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

const STATE_KEY = 'upgrade'

function readState(db: DatabaseSync): BuildState | undefined {
  const value = db.prepare('SELECT value FROM main.meta WHERE key = ?').get(STATE_KEY)?.['value']
  return typeof value === 'string' ? JSON.parse(value) : undefined
}

/** Ends the build: the store gets the settings of a store that is served, and is one file. */
export function finishBuilding({ db, close }: BuildingStore): void {
  db.prepare('DELETE FROM main.meta WHERE key = ?').run(STATE_KEY)
  db.exec('PRAGMA main.locking_mode = NORMAL; PRAGMA journal_mode = WAL')
  close()
}
