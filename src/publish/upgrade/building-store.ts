import { pathToFileURL } from 'node:url'
import type { DatabaseSync } from 'node:sqlite'
import { giveOwnerAndMode } from '../../log/store/file-owner.ts'
import { BUILDING_TXS, EVENT_INDEXES, SCHEMA_VERSION } from '../../log/store/store-schema.ts'
import { createStore, openAnySchema, readIdentity, storeSchema } from '../../log/store/store.ts'
import { headOf } from '../../log/tree/log-fault.ts'
import { haveSameTree } from '../../log/tree/stored-tree.ts'
import { openBuildRow, openLeft, openUnfinished } from '../../log/unfinished-store.ts'
import { removeStore } from '../../log/store/store-files.ts'
import { inTransaction } from '../../log/store/in-transaction.ts'
import type { Row } from '../../log/store/codec.ts'

/** Progress of an upgrade. */
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

const PROGRESS = openBuildRow<BuildState>('upgrade')

/**
 * Opens the new store of an upgrade: the one that an interrupted upgrade has left, if it is of this log and its tree is
 * a part of the old one, or else an empty one. Commits are durable, and a crash loses the newest transaction at most.
 */
export function openBuilding(path: string, old: OldStore, version: string): BuildingStore {
  const left = openLeft(
    path,
    (db) => canContinue(db, old, version),
    () => giveOwnerAndMode(path, old.path),
  )
  if (left !== null) return building(left, old, true)
  removeStore(path)
  const identity = readIdentity(old.db)
  createStore(path, identity, identity)
  giveOwnerAndMode(path, old.path)
  const db = openUnfinished(path)
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
      const state = PROGRESS.read(db)
      if (state === undefined) throw new Error('a store that is being built has a state')
      return state
    },
    note: (state) => PROGRESS.note(db, state),
    close: () => db.close(),
  }
}

function canContinue(db: DatabaseSync, old: OldStore, version: string): boolean {
  const state = PROGRESS.read(db)
  if (storeSchema(db) !== SCHEMA_VERSION || state?.version !== version || state.from !== old.schema)
    return false
  const [identity, oldIdentity] = [readIdentity(db), readIdentity(old.db)]
  const size = headOf(db)
  if (identity.id !== oldIdentity.id || size > headOf(old.db)) return false
  return size === 0 || haveSameTree(db, old.db, size)
}

/** Ends the upgrade: the store gets the settings of a store that is served, and is one file. */
export function finishBuilding({ db }: BuildingStore): void {
  PROGRESS.finish(db)
}

/**
 * The store that an upgrade reads, of any released schema. Each method reads in a transaction of its own, which ends when
 * it returns, so that an older Daybook can go on writing and resetting its write-ahead log.
 */
export type OldStore = Readonly<{
  path: string
  db: DatabaseSync
  schema: number
  /** Events from `seq` on with their details and signatures, at most `limit`. */
  rowsFrom(seq: number, limit: number): readonly Row[]
  /** The signed note of the tree at the end of a month with events; undefined when no closed month ends there. */
  noteAt(size: number): string | undefined
  /** Closes the store, unless it is closed. */
  close(): void
}>

export function openOldStore(path: string): OldStore {
  const db = openAnySchema(path, { readOnly: true })
  const rows = db.prepare(
    `SELECT e.seq AS seq, e.line AS line, e.leaf AS leaf, e.signature AS signature, d.line AS details
     FROM events e LEFT JOIN details d ON d.seq = e.seq WHERE e.seq >= ? ORDER BY e.seq LIMIT ?`,
  )
  const note = db.prepare(
    `SELECT json_extract(manifest, '$.checkpoint') AS note FROM months WHERE closed = 1 AND last_seq = ?`,
  )
  return {
    path,
    db,
    schema: storeSchema(db),
    rowsFrom: (seq, limit) => rows.all(seq, limit),
    noteAt(size) {
      const found = note.get(size)?.['note']
      return typeof found === 'string' ? found : undefined
    },
    close() {
      if (db.isOpen) db.close()
    },
  }
}
