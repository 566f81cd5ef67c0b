import { CommandError } from '../command/terminal/command-error.ts'
import {
  connectDatabase,
  type DatabaseConnection,
  DatabaseError,
} from '../command/database/database-connection.ts'
import type { DraftRow } from '../command/publish/draft-sender.ts'
import { DRAINER_LOCK, type OutboxTable } from './outbox-sql.ts'
import type { DatabaseTarget } from '../command/database/database-url.ts'

/** Rows that are read at once. */
const ROWS_MAX = 1_000

/** Row that the log has accepted, with its status there. */
type DrainedRow = Readonly<{ id: string; status: string; seq: number | null }>

/** Connection to the outbox. All methods throw a DatabaseError when the connection is lost. */
export type OutboxSession = AsyncDisposable &
  Readonly<{
    /** Takes the drainer's lock. False while another drainer has it. */
    lock(): Promise<boolean>
    /** Id of the log that accepted the last drained row; null for none. */
    newestLog(): Promise<string | null>
    /** First undrained rows, in the order of commits. */
    waiting(): Promise<readonly WaitingRow[]>
    markDrained(rows: readonly DrainedRow[], log: string | null): Promise<void>
    /** Called after each commit with new rows that the database notifies. */
    onRows(listener: () => void): void
  }>

/** State of the servers. A standby cannot be drained, because its rows cannot be marked. */
type OpenedSession = Readonly<{ is: 'open'; session: OutboxSession }> | Readonly<{ is: 'standby' }>

/**
 * Connects to the first server of the outbox that is a primary, and checks its table and trigger. After a failover
 * another server of the address is the primary. The error of an unreachable server is thrown, because that server may
 * be the primary.
 */
export async function openOutboxSession(
  target: DatabaseTarget,
  table: OutboxTable,
  stop: AbortSignal,
): Promise<OpenedSession> {
  const hosts = target.hosts.map((host) => ({ ...target, hosts: [host] }))
  let away: DatabaseError | null = null
  for (const one of hosts.length === 0 ? [target] : hosts) {
    try {
      const opened = await openAtServer(one, table, stop)
      if (opened.is === 'open') return opened
    } catch (error) {
      if (!(error instanceof DatabaseError && error.passes) || stop.aborted) throw error
      away = error
    }
  }
  if (away !== null) throw away
  return { is: 'standby' }
}

async function openAtServer(
  target: DatabaseTarget,
  table: OutboxTable,
  stop: AbortSignal,
): Promise<OpenedSession> {
  const connection = await connectDatabase(target, stop)
  try {
    const [state] = await connection.ask('SELECT pg_is_in_recovery() AS standby')
    if (state?.['standby'] === true) {
      await connection[Symbol.asyncDispose]()
      return { is: 'standby' }
    }
    const oid = await checkedTable(connection, table)
    await connection.ask(`LISTEN "${table.schema}.${table.name}"`)
    return { is: 'open', session: sessionOf(connection, table, oid) }
  } catch (error) {
    await connection[Symbol.asyncDispose]()
    throw error
  }
}

/** Oid of the table. Refuses a table whose trigger is missing, because its rows would have no order. */
async function checkedTable(connection: DatabaseConnection, table: OutboxTable): Promise<number> {
  const [found] = await connection.ask(
    `SELECT t.oid::bigint AS oid, g.tgenabled IN ('O', 'A') AND g.tginitdeferred AS ordered
      FROM pg_class t JOIN pg_namespace n ON n.oid = t.relnamespace
      LEFT JOIN pg_trigger g ON g.tgrelid = t.oid AND g.tgname = $3
      WHERE n.nspname = $1 AND t.relname = $2`,
    [table.schema, table.name, table.trigger],
  )
  const advice = `publish --sql --table ${table.schema}.${table.name} prints its SQL`
  if (found === undefined) throw new CommandError(`the table ${table.full} does not exist; ${advice}`)
  if (found['ordered'] !== true) {
    throw new CommandError(
      `the table ${table.full} has no enabled deferred trigger ${table.trigger}; ${advice}`,
    )
  }
  return Number(found['oid'])
}

function sessionOf(connection: DatabaseConnection, { full }: OutboxTable, oid: number): OutboxSession {
  return {
    async lock() {
      const [row] = await connection.ask(
        'SELECT pg_try_advisory_lock($1::integer, $2::bigint::oid::integer) AS taken',
        [DRAINER_LOCK, oid],
      )
      return row?.['taken'] === true
    },
    async newestLog() {
      // No log accepted a row that the operator skipped, but it is marked as drained.
      const [row] = await connection.ask(
        `SELECT log FROM ${full} WHERE drained_at IS NOT NULL AND log <> '' ORDER BY drained_at DESC LIMIT 1`,
      )
      const log: unknown = row?.['log']
      return typeof log === 'string' ? log : null
    },
    async waiting() {
      // A row whose text cannot be sent fails the whole answer. The rows before it are found by asking for fewer.
      for (let most = ROWS_MAX; ; most = Math.ceil(most / 2)) {
        try {
          return await firstWaiting(connection, full, most)
        } catch (error) {
          if (!isUnreadable(error)) throw error
          if (most === 1) throw await unreadableRow(connection, full)
        }
      }
    },
    async markDrained(rows, log) {
      await connection.ask(
        `UPDATE ${full} AS t SET drained_at = now(), status = r.status, seq = r.seq, log = $2
          FROM json_to_recordset($1::text::json) AS r(id uuid, status text, seq bigint)
          WHERE t.id = r.id AND t.drained_at IS NULL`,
        [JSON.stringify(rows), log ?? ''],
      )
    },
    onRows: (listener) => connection.onNotification(listener),
    [Symbol.asyncDispose]: () => connection[Symbol.asyncDispose](),
  }
}

const WAITING = 't.drained_at IS NULL ORDER BY t.pos NULLS FIRST'

type WaitingRow = DraftRow & Readonly<{ id: string }>

async function firstWaiting(
  connection: DatabaseConnection,
  full: string,
  most: number,
): Promise<readonly WaitingRow[]> {
  // The database only sends the text, because its functions fail at escapes such as \u0000, which its type allows.
  const rows = await connection.ask(
    `SELECT t.id::text AS id, t.pos IS NOT NULL AS placed, t.draft::text AS draft
      FROM ${full} AS t WHERE ${WAITING} LIMIT ${most}`,
  )
  return rows.map((row) => {
    const [id, draft] = [String(row['id']), String(row['draft'])]
    if (row['placed'] !== true) {
      throw new CommandError(
        `row ${id} has no position: the trigger was missing or disabled when it was inserted; docs/outbox.md says how to give it one`,
      )
    }
    return { id, name: `row ${id}`, line: lineOf(draft, id) }
  })
}

/** Whether the database failed at a value, because its text has no form in UTF-8 (SQLSTATE class 22). */
function isUnreadable(error: unknown): boolean {
  return error instanceof DatabaseError && error.answer?.code.startsWith('22') === true
}

/** Error for the first waiting row. Names only its id, because the database's own message has bytes of the text. */
async function unreadableRow(connection: DatabaseConnection, full: string): Promise<CommandError> {
  const [row] = await connection.ask(`SELECT t.id::text AS id FROM ${full} AS t WHERE ${WAITING} LIMIT 1`)
  return new CommandError(
    `row ${String(row?.['id'])}, draft: the database cannot send it as UTF-8\nthis row and the rows after it wait: see docs/outbox.md`,
  )
}

/**
 * Draft as one line. Its text is unchanged except for line breaks, which JSON has only between values. A draft without
 * a ref gets the row's id.
 */
function lineOf(draft: string, id: string): string {
  const line = draft.replaceAll(/[\r\n]/g, ' ').trim()
  if (!line.startsWith('{') || hasRef(line)) return line
  const rest = line.slice(1).trimStart()
  return `{"ref":"${id}"${rest.startsWith('}') ? '' : ','}${rest}`
}

/** Whether an object has its own ref. Text that is not JSON goes unchanged to the publish API, which refuses it. */
function hasRef(line: string): boolean {
  try {
    return Object.hasOwn(JSON.parse(line), 'ref')
  } catch {
    return true
  }
}
