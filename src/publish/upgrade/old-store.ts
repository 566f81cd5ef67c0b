import type { DatabaseSync } from 'node:sqlite'
import type { Row } from '../../log/store/codec.ts'
import { openAnySchema, storeSchema } from '../../log/store/store.ts'

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
