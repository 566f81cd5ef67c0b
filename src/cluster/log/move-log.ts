import type { DatabaseSync } from 'node:sqlite'
import { databaseOf } from '../../database/sent-database.ts'
import { markHighWater, readHighWater } from '../../log/store/high-water.ts'
import { inTransaction } from '../../log/store/in-transaction.ts'
import { refuseMirror } from '../../log/store/mirror-meta.ts'
import { openForWriting, readIdentity, StoreError, storePath } from '../../log/store/store.ts'
import { faultAtStart, headOf } from '../../log/tree/log-fault.ts'
import { changeKeys, newestCheckpoint, proveLog } from '../../log/tree/ready-log.ts'
import type { SigningKey } from '../../log/tree/signer.ts'
import { isSame } from '../../tlog/hash.ts'
import { enterTable, movedRows } from '../book/moved-rows.ts'
import type { NewestRow } from '../node/node-book.ts'
import { openKeptRows } from '../row/kept-rows.ts'
import { decodeRow, digestOfRow } from '../row/row-frame.ts'
import { openRowKeys } from '../row/row-keys.ts'
import { readTablePlace } from '../row/table-position.ts'
import { TableError, type TableRow } from '../table/log-table.ts'
import { moveRows } from '../table/move-rows.ts'
import { openLogTable, type TableOptions } from '../table/open-table.ts'
import { openPrimaryFile } from '../table/primary-file.ts'
import type { TableSettings } from './table-settings.ts'

/** A log that is moved, and its surroundings. */
export type MoveSettings = Readonly<{
  /** Data directory that no process uses, and whose lock the caller has. */
  dataDirectory: string
  /** Keys that sign the log. */
  keys: readonly SigningKey[]
  table: TableSettings
  /** Whether the table that carries the log is given up. */
  acceptLoss: boolean
  nowMs(): number
  monotonicMs(): number
  /** Rejects when the signal is aborted. */
  sleep(ms: number, signal: AbortSignal): Promise<unknown>
  signal: AbortSignal
  /** Called with the place of each row that is sent. */
  onProgress(place: number): void
}>

/**
 * Puts the log of a data directory on an empty table, in one transaction of PostgreSQL: every event with its stored
 * signature, and the held drafts. Returns the seq of its newest event and the number of rows. A call that was interrupted
 * is completed by the same call. A log that has gone on in another table is moved only when that one is given up: its other
 * nodes then start with an empty directory. Throws a StoreError or a `TableError`.
 */
export async function moveToTable(settings: MoveSettings): Promise<Readonly<{ head: number; rows: number }>> {
  const { dataDirectory, keys, table, signal, onProgress } = settings
  using db = openStore(dataDirectory)
  refuseMirror(db)
  const before = readTablePlace(db)
  if (before === null) {
    proveLog(db, readHighWater(dataDirectory), { keys, acceptLoss: false, acceptNewKey: false })
    changeKeys(db, { keys, acceptNewKey: false })
  } else refuseLack(db, settings)
  const options = optionsOf(settings, db)
  if (before !== null && (await isThere(settings, options, before))) {
    return { head: headOf(db), rows: before.place }
  }
  if (before !== null && !settings.acceptLoss && hasGoneOn(db)) throw new StoreError(ELSEWHERE)
  const [key] = openRowKeys(db, keys).signing
  if (key === undefined) throw new StoreError('no key signs this log')
  let newest: TableRow | null = null
  function* sent(): Generator<TableRow, void> {
    if (key === undefined) return
    for (const row of movedRows(db, key)) {
      if (signal.aborted) throw new StoreError('stopped')
      newest = row
      yield row
      onProgress(row.place)
    }
  }
  // From the commit on, other nodes may publish: this store must not go on alone, whatever becomes of this process.
  const note = (): void => {
    const last = newest
    if (last === null) return
    // A log that was on a table before may have fewer rows now. Beside a mark with more, the store is an older copy.
    if (before !== null) {
      const place = Math.min(before.place, last.place)
      markHighWater(dataDirectory, { ...newestCheckpoint(db), place })
    }
    inTransaction(db, () => enterTable(db, last, keys))
    markHighWater(dataDirectory, newestCheckpoint(db))
  }
  await moveRows(databaseOf(table.database), sent(), options, note)
  return { head: headOf(db), rows: readTablePlace(db)?.place ?? 0 }
}

/** Whether the newest row of a store is none of a move. */
function hasGoneOn(db: DatabaseSync): boolean {
  const newest = openKeptRows(db).from(0).at(-1)
  const decoded = newest === undefined ? null : decodeRow(newest.bytes)
  if (decoded === null || !decoded.ok) return true
  const { row } = decoded.signed
  return row.is === 'commit' ? row.moved === null : row.is !== 'begin'
}

const ELSEWHERE =
  'this log has gone on in another table: give the address of that one. When it is lost for good, stop all nodes, and give --accept-loss at the one that is furthest'

/** Whether the table has the rows of this store already. Throws when it has others. */
async function isThere(
  { table }: MoveSettings,
  options: TableOptions,
  { place, digest }: NewestRow,
): Promise<boolean> {
  await using open = openLogTable(databaseOf(table.database), options)
  const { last, rows } = await open.look(place, 1, place)
  if (last === 0) return false
  if (last < place)
    throw new StoreError(`the table ends at place ${last}, and this store at place ${place}: ${PUT_BACK}`)
  const [own] = rows
  if (own === undefined) throw new TableError(`no synchronous standby confirms the row at place ${place}`)
  if (isSame(digestOfRow(own.bytes), digest)) return true
  throw new StoreError(`the table has another row at place ${place} than this store`)
}

const PUT_BACK = 'start this node, and it puts the missing rows back'

/** Opens the store of a data directory. */
export function openStore(dataDirectory: string): DatabaseSync {
  return openForWriting(storePath(dataDirectory))
}

/** Options of the table of a store's log. A command notes no new primary before its work has ended. */
export function optionsOf(
  { dataDirectory, table, nowMs, monotonicMs }: MoveSettings,
  db: DatabaseSync,
): TableOptions {
  const memory = { ...openPrimaryFile(dataDirectory), write: () => undefined }
  return { isSingle: table.isSingle, logId: readIdentity(db).id, memory, nowMs, monotonicMs }
}

/** Throws when the store lacks what the node has served: alone, it would sign other events in their place. */
export function refuseLack(db: DatabaseSync, { dataDirectory, keys }: MoveSettings): void {
  const fault = faultAtStart(db, readHighWater(dataDirectory), keys)
  if (fault !== null) throw new StoreError(`seq ${fault.seq}: ${fault.reason}`)
}
