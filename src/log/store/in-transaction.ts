import type { DatabaseSync } from 'node:sqlite'

/** Runs a change in a transaction of its own. Undoes all of it when it throws. */
export function inTransaction<Result>(db: DatabaseSync, change: () => Result): Result {
  db.exec('BEGIN IMMEDIATE')
  try {
    const result = change()
    db.exec('COMMIT')
    return result
  } catch (error) {
    // SQLite ends a transaction itself after some failures of the disk.
    if (db.isTransaction) db.exec('ROLLBACK')
    throw error
  }
}
