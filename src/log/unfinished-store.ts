import { lstatSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { openAnySchema } from './store/store.ts'

const CACHE_KIB = 64 * 1024

/**
 * Opens a store that is being built, which no other process can open. Its journal holds only pages that were in the
 * file before a transaction, so pages added at the end are written once. A write-ahead log would write each page twice.
 */
export function openUnfinished(path: string): DatabaseSync {
  const db = openAnySchema(path, { readOnly: false })
  try {
    // Without `main.` an attached store would be locked exclusively too.
    db.exec(`PRAGMA main.locking_mode = EXCLUSIVE; PRAGMA journal_mode = TRUNCATE; PRAGMA synchronous = FULL;
      PRAGMA cache_size = -${CACHE_KIB}; PRAGMA temp_store = FILE; PRAGMA foreign_keys = OFF`)
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

/** Opens the store of an interrupted build; null when there is none that can be continued. */
export function openLeft(
  path: string,
  canContinue: (db: DatabaseSync) => boolean,
  prepare: () => void = () => undefined,
): DatabaseSync | null {
  // A link may lead to a file that is not ours to change.
  if (lstatSync(path, { throwIfNoEntry: false })?.isFile() !== true) return null
  let db: DatabaseSync | undefined
  try {
    prepare()
    db = openUnfinished(path)
    if (canContinue(db)) return db
  } catch {
    // A file of any other kind is built again.
  }
  db?.close()
  return null
}

/** Row of `meta` with the progress of a build. It changes in the transaction of each step. */
type BuildRow<State> = Readonly<{
  read(db: DatabaseSync): State | undefined
  /** Writes the state, in the caller's transaction. */
  note(db: DatabaseSync, state: State): void
  /** Ends the build: makes the store one file with the settings of a served store. */
  finish(db: DatabaseSync): void
}>

/** Opens the row of one kind of build. */
export function openBuildRow<State extends object>(key: string): BuildRow<State> {
  return {
    read(db) {
      const value = db.prepare('SELECT value FROM main.meta WHERE key = ?').get(key)?.['value']
      return typeof value === 'string' ? JSON.parse(value) : undefined
    },
    note(db, state) {
      db.prepare('INSERT OR REPLACE INTO main.meta (key, value) VALUES (?, ?)').run(
        key,
        JSON.stringify(state),
      )
    },
    finish(db) {
      db.prepare('DELETE FROM main.meta WHERE key = ?').run(key)
      db.exec('PRAGMA main.locking_mode = NORMAL; PRAGMA journal_mode = WAL')
      db.close()
    },
  }
}
