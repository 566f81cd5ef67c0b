import type { DatabaseConnection } from '../../engine/postgres/database-connection.ts'

/** Longest wait between two questions about the standbys, in ms. The first follows at once. */
const WAIT_MS_MAX = 20
/** Time for the last answer after the limit, in ms: a late one would say nothing about the position. */
const GRACE_MS = 400

/** State of the standbys at a position of the write-ahead log. */
type StandbyState = Readonly<{ isFlushed: boolean; lsn: string }>

/** Position, as SQL: the end of what this server has flushed, or one that was read before. */
const question = (position: string): string =>
  `WITH asked AS MATERIALIZED (SELECT ${position} AS lsn)
   SELECT lsn::text AS lsn, current_setting('synchronous_standby_names') AS names,
     pg_current_wal_flush_lsn() >= lsn AS local,
     (SELECT count(*)::integer FROM pg_stat_get_wal_senders()
       WHERE sync_state IN ('sync', 'quorum') AND flush_lsn >= lsn) AS standbys
   FROM asked`

/**
 * Asks whether everything up to a position is on the disks of the primary and of as many synchronous standbys as its
 * settings require. That a commit returned does not tell: an emptied `synchronous_standby_names` releases waiting commits
 * without a warning. Without a position, it is the end of what this server has flushed: a row that is visible is below it.
 */
export async function askStandbyState(
  connection: DatabaseConnection,
  isSingle: boolean,
  answerMs: number,
  lsn: string | null = null,
): Promise<StandbyState> {
  const [row] = await connection.ask(
    question(lsn === null ? 'pg_current_wal_flush_lsn()' : '$1::pg_lsn'),
    lsn === null ? [] : [lsn],
    { answerMs, prepare: true },
  )
  const needed = requiredStandbys(String(row?.['names']))
  const isSafe = isSingle || (needed > 0 && Number(row?.['standbys']) >= needed)
  return { isFlushed: row?.['local'] === true && isSafe, lsn: String(row?.['lsn']) }
}

/** Asks again about the same position until it is flushed, or `leftMs` has no more time, and 400 ms more for an answer. */
export async function untilFlushed(
  connection: DatabaseConnection,
  first: StandbyState,
  isSingle: boolean,
  leftMs: () => number,
): Promise<boolean> {
  let { isFlushed } = first
  for (let waitMs = 0; !isFlushed; waitMs = Math.min(waitMs * 2 + 1, WAIT_MS_MAX)) {
    if (leftMs() <= waitMs + 1) return false
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs))
    isFlushed = (await askStandbyState(connection, isSingle, leftMs() + GRACE_MS, first.lsn)).isFlushed
  }
  return true
}

/** Standbys that a value of `synchronous_standby_names` requires; 0 for none. */
export function requiredStandbys(names: string): number {
  if (names.trim() === '') return 0
  const { count = '1' } = /^\s*(?:(?:any|first)\s+)?(?<count>\d+)\s*\(/i.exec(names)?.groups ?? {}
  return Number(count)
}
