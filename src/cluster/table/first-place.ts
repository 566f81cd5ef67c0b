import type { DatabaseTarget } from '../../database/database-target.ts'
import { APPEND_MS_MAX } from './log-table.ts'
import { asTableError, openTableSession, type PrimaryKeeper, TABLE } from './table-session.ts'

/** The oldest place in the table, 0 of an empty one: its owner may have deleted older rows. Throws a `TableError`. */
export async function firstPlace(target: DatabaseTarget, memory: PrimaryKeeper | null): Promise<number> {
  try {
    await using session = await openTableSession(target, memory, new AbortController().signal)
    const [row] = await session.connection.ask(`SELECT min(place) AS first FROM ${TABLE}`, [], {
      answerMs: APPEND_MS_MAX,
    })
    return Number(row?.['first'] ?? 0)
  } catch (error) {
    throw asTableError(error)
  }
}
