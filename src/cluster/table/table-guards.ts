import type { GuardedTable } from './server-guards.ts'
import { findFaults } from './server-guards.ts'
import { APPEND_MS_MAX } from './log-table.ts'
import { NO_TABLE, TABLE, type TableSession } from './table-session.ts'

const GUARDED: GuardedTable = {
  table: TABLE,
  // The name that PostgreSQL gives it.
  key: `${TABLE.slice('public.'.length)}_pkey`,
  column: 'place',
  noun: 'row',
  missing: NO_TABLE,
  harm: 'take the lock of the log',
  // `idle_session_timeout` is as old.
  versionMin: 14,
  answerMs: APPEND_MS_MAX,
}

/** Faults that a session finds: of the server, its standbys, the role, the table and the connection. Throws a DatabaseError. */
export function inspectSession(
  { connection, host }: TableSession,
  isSingle: boolean,
): Promise<readonly string[]> {
  return findFaults(connection, host, isSingle, GUARDED)
}
