import type { DatabaseConnection } from '../../command/database/database-connection.ts'

/** Longest wait between two queries about the standbys, in ms. The first follows immediately. */
const LOOK_MS_MAX = 20
/** Grace period in ms for the last answer. A later one would say nothing about the position. */
const GRACE_MS = 400

/**
 * Progress of the standbys at a position. The wait event `SyncRep` is not enough: an emptied
 * `synchronous_standby_names` releases waiting commits without a warning.
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
 * Asks whether the standbys also have everything that this server has flushed. A visible row is below that position.
 * `lsn` repeats the query for an earlier position. `isSingle`: the flush of the primary alone counts.
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

/**
 * Repeats the query for the same position until it is flushed, or until `leftMs` is used up. A last answer has 400 ms
 * more.
 */
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

/** Number of standbys that a value of `synchronous_standby_names` requires; 0 for none. */
export function standbysNeeded(names: string): number {
  if (names.trim() === '') return 0
  const { count = '1' } = /^\s*(?:(?:any|first)\s+)?(?<count>\d+)\s*\(/i.exec(names)?.groups ?? {}
  return Number(count)
}
