import type { DatabaseConnection } from '../../database/database-connection.ts'
import type { DatabaseTarget } from '../../database/database-target.ts'
import { StoreError } from '../../log/store/store.ts'
import { askStandbyState, untilFlushed } from './standby-proof.ts'
import { TableError, type TableRow } from './log-table.ts'
import { lockOf, timeLeft } from './look-at-table.ts'
import type { TableOptions } from './open-table.ts'
import { inspectSession } from './table-guards.ts'
import { asTableError, openTableSession, TABLE } from './table-session.ts'

/** Rows and bytes of one statement, at most; a larger row goes alone. */
const BATCH_ROWS = 1_000
const BATCH_BYTES = 4 * 1024 * 1024
/** Time limit of one statement, and of the commit with its proof, in ms. */
const BATCH_MS = 60_000
const COMMIT_MS = 600_000
/** Longest time between two statements, in ms: the refs of a large log are sorted before its first events are sent. */
const PAUSE_MS = 600_000

/**
 * Inserts the rows of a log, from place 1 on, in one transaction. The table must be empty, and no node may lead.
 * `beforeCommit` is called when all rows are inserted: from then on they may be there. Throws a `TableError`, whose message
 * says so when it is the case, or what the making of the rows throws.
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
