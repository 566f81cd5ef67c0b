import type { DatabaseSync } from 'node:sqlite'
import { readIdentity, StoreError } from '../../log/store/store.ts'
import type { NewestRow } from '../node/node-book.ts'
import { openKeptRows } from '../row/kept-rows.ts'
import { type LogRow, ROW_VERSION, type RowBody, type RowPlace } from '../row/log-row.ts'
import { refusalOfRow } from '../row/next-row.ts'
import { decodeRow, digestOfRow } from '../row/row-frame.ts'
import { readTablePlace, writeTablePlace } from '../row/table-position.ts'
import type { TableRow } from '../table/log-table.ts'

/** The rows of a store: its newest one, and the kept ones. Changes belong to the caller's transaction. */
export type BookRows = Readonly<{
  newest(): NewestRow
  kept(from: number): readonly TableRow[]
  /** Whether the newest row is the last one of its log. */
  isEnded(): boolean
  /** The place of the next row. */
  next(): RowPlace
  /** Reason why the table's row at a place is not the next one of this log; null when it is. */
  refusalOf(row: LogRow, place: number): string | null
  /** Notes the next row. */
  note(bytes: Uint8Array, is: RowBody['is']): void
  /** Writes the place of the newest row. */
  write(): void
  /** Undoes what was noted since the last commit. */
  rollback(): void
}>

/** Opens the rows of a store. Throws a StoreError when its log is on no table. */
export function openBookRows(db: DatabaseSync): BookRows {
  const { id: logId } = readIdentity(db)
  const kept = openKeptRows(db)
  let newest = placeOf(db)
  let isEnded = isEndKept(kept.from(newest.place))

  const next = (): RowPlace => {
    const { place, digest } = newest
    return { v: ROW_VERSION, logId, place: place + 1, prev: digest }
  }

  return {
    newest: () => newest,
    kept: kept.from,
    isEnded: () => isEnded,
    next,
    refusalOf(row, place) {
      if (isEnded) return 'it follows the last row of the log, which has left the table'
      return refusalOfRow(row, place, next())
    },
    note(bytes, is) {
      const { place } = next()
      kept.add({ place, bytes })
      newest = { place, digest: digestOfRow(bytes) }
      isEnded = is === 'end'
    },
    write: () => writeTablePlace(db, newest),
    rollback() {
      kept.reload()
      newest = placeOf(db)
      isEnded = isEndKept(kept.from(newest.place))
    },
  }
}

function isEndKept([newest]: readonly TableRow[]): boolean {
  const decoded = newest === undefined ? null : decodeRow(newest.bytes)
  return decoded?.ok === true && decoded.signed.row.is === 'end'
}

function placeOf(db: DatabaseSync): NewestRow {
  const newest = readTablePlace(db)
  if (newest === null)
    throw new StoreError('the log of this store is on no table: move it with daybook cluster move')
  return newest
}
