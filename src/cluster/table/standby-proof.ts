import type { DatabaseConnection } from '../../command/database/database-connection.ts'

/** Longest wait between two looks at the standbys, in ms. The first look follows at once. */
const LOOK_MS_MAX = 20
/** Time for the last answer after the limit, in ms: a late one would say nothing about the position. */
const GRACE_MS = 400

/**
 * Progress of the standbys at a position. `SyncRep` alone does not tell: an emptied `synchronous_standby_names`
 * releases waiting commits without a warning.
 */
const standbysAt = (position: 'pg_current_wal_flush_lsn()' | '$1::pg_lsn'): string =>
  `WITH asked AS MATERIALIZED (SELECT ${position} AS lsn)
   SELECT lsn::text AS lsn, current_setting('synchronous_standby_names') AS names,
     pg_current_wal_flush_lsn() >= lsn AS local,
     (SELECT count(*)::integer FROM pg_stat_get_wal_senders()
       WHERE sync_state IN ('sync', 'quorum') AND flush_lsn >= lsn) AS standbys
   FROM asked`

/** Whether a position is on the disks of the primary and of as many synchronous standbys as its settings require. */
type StandbyState = Readonly<{ isProved: boolean; lsn: string }>

/**
 * Asks whether all that this server has flushed is on the standbys too: a row that is visible is below that position.
 * `lsn` asks for an earlier position again. `isSingle`: the flush of the primary alone counts.
 */
export async function askStandbyState(
  connection: DatabaseConnection,
  isSingle: boolean,
  answerMs: number,
  lsn: string | null = null,
): Promise<StandbyState> {
  const sql = standbysAt(lsn === null ? 'pg_current_wal_flush_lsn()' : '$1::pg_lsn')
  const [row] = await connection.ask(sql, lsn === null ? [] : [lsn], { answerMs, prepare: true })
  const needed = standbysNeeded(String(row?.['names']))
  const isSafe = isSingle || (needed > 0 && Number(row?.['standbys']) >= needed)
  return { isProved: row?.['local'] === true && isSafe, lsn: String(row?.['lsn']) }
}

/** Asks again about the same position until it is flushed, or `leftMs` has no more time, and 400 ms more for an answer. */
export async function untilFlushed(
  connection: DatabaseConnection,
  { isProved, lsn }: StandbyState,
  isSingle: boolean,
  leftMs: () => number,
): Promise<boolean> {
  let isFlushed = isProved
  for (let waitMs = 0; !isFlushed; waitMs = Math.min(waitMs * 2 + 1, LOOK_MS_MAX)) {
    if (leftMs() <= waitMs + 1) return false
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs))
    isFlushed = (await askStandbyState(connection, isSingle, leftMs() + GRACE_MS, lsn)).isProved
  }
  return true
}

/** Standbys that a value of `synchronous_standby_names` requires; 0 for none. */
export function standbysNeeded(names: string): number {
  if (names.trim() === '') return 0
  const { count = '1' } = /^\s*(?:(?:any|first)\s+)?(?<count>\d+)\s*\(/i.exec(names)?.groups ?? {}
  return Number(count)
}
