import { EngineError } from '../log-engine.ts'
import { commitTableSql, isPlainRole, runningRoleSql, streamNames } from './commit-table.ts'
import type { DatabaseTarget } from './database-target.ts'
import { findStandbyFaults } from './postgres-guards.ts'
import { findPrimary } from './primary-search.ts'
import { errorMessage } from '../../protocol/error-reason.ts'

const ANSWER_MS = 10_000

/** Settings that each server needs, as lines of postgresql.conf. `ops/postgres/daybook.conf` explains them. */
export const POSTGRES_SETTINGS: readonly string[] = [
  "synchronous_standby_names = 'ANY 1 (daybook_a, daybook_b, daybook_c)'",
  'synchronous_commit = on',
  'fsync = on',
  'full_page_writes = on',
]

/** Stream and role that are made, and whether one database without a standby is accepted. */
export type PostgresSetup = Readonly<{ stream: number; role: string; isSingle: boolean }>

/**
 * Makes the table of a stream, and the running role if it is missing, as an administrator, in one transaction. Returns
 * the statements that ran. Throws an EngineError, for example when the table is there already or the standby is not.
 */
export async function setUpPostgres(
  admin: DatabaseTarget,
  { stream, role, isSingle }: PostgresSetup,
  stop: AbortSignal,
): Promise<readonly string[]> {
  if (!isPlainRole(role)) {
    throw new EngineError('the name of the role has other characters than a-z, 0-9 and _: choose another')
  }
  const { table } = streamNames(stream)
  const { connection } = await findPrimary(admin, null, stop)
  await using _ = connection
  try {
    const [state] = await connection.ask(
      `SELECT to_regclass($1) IS NOT NULL AS made, quote_ident(current_database()) AS database,
        EXISTS (SELECT FROM pg_roles WHERE rolname = $2) AS known`,
      [table, role],
    )
    if (state?.['made'] === true) throw new EngineError(`the table ${table} is there already`)
    // Without a standby the commit below would wait for ever.
    const [fault] = isSingle ? [] : await findStandbyFaults(connection)
    if (fault !== undefined) throw new EngineError(fault)
    const statements = [
      ...(state?.['known'] === true ? [] : runningRoleSql(role)),
      ...commitTableSql(stream, role, String(state?.['database'])),
    ]
    await connection.ask(`BEGIN; SET LOCAL statement_timeout = 0; ${statements.join('; ')}; COMMIT`, [], {
      answerMs: ANSWER_MS,
    })
    return statements
  } catch (cause) {
    if (cause instanceof EngineError) throw cause
    throw new EngineError(`PostgreSQL: ${errorMessage(cause)}`, { cause })
  }
}
