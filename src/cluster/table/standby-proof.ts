import type { DatabaseConnection } from '../../database/database-connection.ts'

/** A position of the write-ahead log at which a proof is asked, as SQL. */
type WalPosition = 'pg_current_wal_flush_lsn()' | 'pg_current_wal_insert_lsn()' | '$1::pg_lsn'

/** Longest wait between two looks at the standbys, in ms. The first look follows at once. */
const LOOK_MS_MAX = 20

/**
 * Progress of the standbys at a position. `SyncRep` alone does not tell: an emptied `synchronous_standby_names`
 * releases waiting commits without a warning.
 */
const standbysAt = (position: WalPosition): string =>
  `WITH asked AS MATERIALIZED (SELECT ${position} AS lsn)
   SELECT lsn::text AS lsn, current_setting('synchronous_standby_names') AS names,
     pg_current_wal_flush_lsn() >= lsn AS local,
     (SELECT count(*)::integer FROM pg_stat_get_wal_senders()
       WHERE sync_state IN ('sync', 'quorum') AND flush_lsn >= lsn) AS standbys
   FROM asked`

/** State of the standbys at a position. */
export type StandbyState = Readonly<{ isProved: boolean; lsn: string }>

/** Limits of a question, and whether the flush of the primary alone counts. */
type ProofOptions = Readonly<{ isSingle: boolean; answerMs: number }>

/**
 * Asks whether everything up to a position is on the disks of the primary and of as many synchronous standbys as its
 * settings require.
 */
export async function askStandbys(
  connection: DatabaseConnection,
  position: WalPosition | Readonly<{ lsn: string }>,
  { isSingle, answerMs }: ProofOptions,
): Promise<StandbyState> {
  const isGiven = typeof position === 'object'
  const [row] = await connection.ask(
    standbysAt(isGiven ? '$1::pg_lsn' : position),
    isGiven ? [position.lsn] : [],
    {
      answerMs,
      prepare: true,
    },
  )
  const needed = standbysNeeded(String(row?.['names']))
  const isSafe = isSingle || (needed > 0 && Number(row?.['standbys']) >= needed)
  return { isProved: row?.['local'] === true && isSafe, lsn: String(row?.['lsn']) }
}

/** Looks at the standbys until a position is proved, or `leftMs` has no more time, and `graceMs` more for an answer. */
export async function waitForStandbys(
  connection: DatabaseConnection,
  first: StandbyState,
  { isSingle, leftMs, graceMs = 0 }: Readonly<{ isSingle: boolean; leftMs: () => number; graceMs?: number }>,
): Promise<boolean> {
  let { isProved } = first
  for (let waitMs = 0; !isProved; waitMs = Math.min(waitMs * 2 + 1, LOOK_MS_MAX)) {
    if (leftMs() <= waitMs + 1) return false
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs))
    isProved = (await askStandbys(connection, first, { isSingle, answerMs: leftMs() + graceMs })).isProved
  }
  return true
}

/** Standbys that a value of `synchronous_standby_names` requires; 0 for none. */
export function standbysNeeded(names: string): number {
  if (names.trim() === '') return 0
  const { count = '1' } = /^\s*(?:(?:any|first)\s+)?(?<count>\d+)\s*\(/i.exec(names)?.groups ?? {}
  return Number(count)
}
