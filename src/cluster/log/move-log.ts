import type { DatabaseSync } from 'node:sqlite'
import { markHighWater, readHighWater } from '../../log/store/high-water.ts'
import { inTransaction } from '../../log/store/in-transaction.ts'
import { refuseMirror } from '../../log/store/mirror-meta.ts'
import { openForWriting, readIdentity, StoreError, storePath } from '../../log/store/store.ts'
import { faultAtStart, headOf } from '../../log/tree/log-fault.ts'
import { changeKeys, newestCheckpoint, proveLog } from '../../log/tree/ready-log.ts'
import type { SigningKey } from '../../log/tree/signer.ts'
import { isSame } from '../../tlog/hash.ts'
import { enterTable, movedRows } from '../book/moved-rows.ts'
import { openKeptRows, readTablePlace } from '../row/kept-rows.ts'
import { decodeRow, digestOfRow } from '../row/row-frame.ts'
import { openRowKeys } from '../row/row-keys.ts'
import { TableError, type TableRow } from '../table/log-table.ts'
import { openLogTable, type TableOptions, type TableSettings } from '../table/open-table.ts'
import { openPrimaryFile } from '../table/primary-file.ts'
import type { DatabaseConnection } from '../../command/database/database-connection.ts'
import { askStandbyState, untilFlushed } from '../table/standby-proof.ts'
import { lockOf, timeLeft } from '../table/look-at-table.ts'
import { inspectSession } from '../table/table-guards.ts'
import { asTableError, openTableSession, TABLE } from '../table/table-session.ts'
import type { NewestRow } from '../node/cluster-node.ts'
import type { DatabaseTarget } from '../../command/database/database-url.ts'

/** A log that is moved, and its surroundings. */
export type MoveSettings = Readonly<{
  /** Data directory that no process uses. The caller holds its lock. */
  dataDirectory: string
  /** Keys that sign the log. */
  keys: readonly SigningKey[]
  table: TableSettings
  /** Whether the table that carries the log is abandoned. */
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
 * signature, and the held drafts. Returns the seq of its newest event and the number of rows. The same call completes
 * an interrupted one. A log that has continued in another table is moved only if that table is abandoned; its other
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
  // Other nodes may publish from the commit on, so this store must not continue alone, even if this process ends.
  const note = (): void => {
    const last = newest
    if (last === null) return
    // A log that was on a table before may have fewer rows now. With a higher mark the store looks like an older copy.
    if (before !== null) {
      const place = Math.min(before.place, last.place)
      markHighWater(dataDirectory, { ...newestCheckpoint(db), place })
    }
    inTransaction(db, () => enterTable(db, last, keys))
    markHighWater(dataDirectory, newestCheckpoint(db))
  }
  await moveRows(table.database, sent(), options, note)
  return { head: headOf(db), rows: readTablePlace(db)?.place ?? 0 }
}

/** Whether the newest row of a store does not come from a move. */
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
  await using open = openLogTable(table.database, options)
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

/** Options of the table of a store's log. A command records a new primary only when its work has ended. */
export function optionsOf(
  { dataDirectory, table, nowMs, monotonicMs }: MoveSettings,
  db: DatabaseSync,
): TableOptions {
  const memory = { ...openPrimaryFile(dataDirectory), write: () => undefined }
  return { isSingle: table.isSingle, logId: readIdentity(db).id, memory, nowMs, monotonicMs }
}

/** Throws when the store lacks events that the node has served. Alone, it would sign other events in their place. */
export function refuseLack(db: DatabaseSync, { dataDirectory, keys }: MoveSettings): void {
  const fault = faultAtStart(db, readHighWater(dataDirectory), keys)
  if (fault !== null) throw new StoreError(`seq ${fault.seq}: ${fault.reason}`)
}

/** Most rows and bytes of one statement. A larger row is sent alone. */
const BATCH_ROWS = 1_000
const BATCH_BYTES = 4 * 1024 * 1024
/** Time limit of one statement, and of the commit with its proof, in ms. */
const BATCH_MS = 60_000
const COMMIT_MS = 600_000
/** Longest time between two statements, in ms. The refs of a large log are sorted before its first events are sent. */
const PAUSE_MS = 600_000

/**
 * Inserts the rows of a log, from place 1 on, in one transaction. The table must be empty, and no node may lead.
 * `beforeCommit` is called when all rows are inserted; from then on they may be in the table. Throws the errors of
 * `rows`, or a `TableError`, which says if the rows may be in the table.
 */
export async function moveRows(
  target: DatabaseTarget,
  rows: Iterable<TableRow>,
  { isSingle, logId, memory, monotonicMs }: TableOptions,
  beforeCommit: () => void,
): Promise<void> {
  let isCommitting = false
  try {
    await using session = await openTableSession(target, memory, new AbortController().signal)
    const faults = await inspectSession(session, isSingle)
    if (faults.length > 0) throw new TableError(faults.join('; '))
    const { connection } = session
    const answerMs = BATCH_MS
    await connection.ask('BEGIN', [], { answerMs })
    await connection.ask(`SET LOCAL statement_timeout = ${BATCH_MS}`, [], { answerMs })
    await connection.ask(`SET LOCAL idle_in_transaction_session_timeout = ${PAUSE_MS}`, [], { answerMs })
    const [state] = await connection.ask(
      `SELECT pg_try_advisory_xact_lock($1::bigint) AS locked, EXISTS (SELECT FROM ${TABLE}) AS filled`,
      [lockOf(logId)],
      { answerMs },
    )
    if (state?.['locked'] !== true) throw new TableError('a node of this log leads: end it first')
    if (state['filled'] === true) {
      throw new TableError(`the table ${TABLE} is not empty: a log is moved onto an empty table`)
    }
    for (const batch of batches(rows)) await insertBatch(connection, batch)
    const notices = connection.notices()
    const leftMs = timeLeft(monotonicMs, COMMIT_MS)
    beforeCommit()
    isCommitting = true
    await connection.ask('COMMIT', [], { answerMs: leftMs() })
    const standbys = await askStandbyState(connection, isSingle, leftMs())
    if (!(await untilFlushed(connection, standbys, isSingle, leftMs)) || connection.notices() !== notices) {
      throw new TableError('no synchronous standby confirms the rows')
    }
  } catch (error) {
    if (!isCommitting) throw error instanceof StoreError ? error : asTableError(error)
    const { message } = asTableError(error)
    throw new TableError(`${message}: the rows may be in the table; \`daybook cluster check\` shows it`, {
      cause: error,
    })
  }
}

function* batches(rows: Iterable<TableRow>): Iterable<readonly TableRow[]> {
  let batch: TableRow[] = []
  let bytes = 0
  for (const row of rows) {
    if (batch.length === BATCH_ROWS || (batch.length > 0 && bytes + row.bytes.length > BATCH_BYTES)) {
      yield batch
      batch = []
      bytes = 0
    }
    batch.push(row)
    bytes += row.bytes.length
  }
  if (batch.length > 0) yield batch
}

async function insertBatch(connection: DatabaseConnection, batch: readonly TableRow[]): Promise<void> {
  const places = batch.map(({ place }) => place).join(',')
  const bodies = batch.map(({ bytes }) => Buffer.from(bytes).toString('base64')).join(',')
  await connection.ask(
    `INSERT INTO ${TABLE} (place, body) SELECT place, decode(body, 'base64')
      FROM unnest(string_to_array($1::text, ',')::bigint[], string_to_array($2::text, ',')) AS t (place, body)`,
    [places, bodies],
    { answerMs: BATCH_MS, prepare: true },
  )
}
