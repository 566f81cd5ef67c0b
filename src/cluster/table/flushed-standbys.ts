import type { DatabaseConnection } from '../../database/database-connection.ts'
import type { StandbyState } from './standby-proof.ts'
import { askStandbys, waitForStandbys } from './standby-proof.ts'

/** Time for the last answer after the limit, in ms: a late one would say nothing about the position. */
const GRACE_MS = 400

/** Asks whether all that this server has flushed is on the standbys too: a row that is visible is below that position. */
export function askStandbyState(
  connection: DatabaseConnection,
  isSingle: boolean,
  answerMs: number,
): Promise<StandbyState> {
  return askStandbys(connection, 'pg_current_wal_flush_lsn()', { isSingle, answerMs })
}

/** Asks again about the same position until it is flushed, or `leftMs` has no more time, and 400 ms more for an answer. */
export function untilFlushed(
  connection: DatabaseConnection,
  first: StandbyState,
  isSingle: boolean,
  leftMs: () => number,
): Promise<boolean> {
  return waitForStandbys(connection, first, { isSingle, leftMs, graceMs: GRACE_MS })
}
