import type { EngineMessage } from '../log-engine.ts'
import { EngineError } from '../log-engine.ts'
import type { DatabaseConnection } from './database-connection.ts'
import type { Left, LogContext } from './log-context.ts'
import { condemnReadOnly, throwEngineError, timeLimit } from './log-context.ts'
import type { PrimarySession } from './primary-session.ts'
import { askStandbys, waitForStandbys } from './standby-proof.ts'

const BARRIER_MS = 1_000
const READ_MS = 10_000
/** Rows that a read looks at, at most. */
const READ_ROWS = 1_024

/** Rows from a place on that are surely on the synchronous standbys. Throws when there are only doubtful ones. */
export async function readCommits(
  context: LogContext,
  from: number,
  bytesMax: number,
  barrier: () => Promise<number>,
): Promise<readonly EngineMessage[]> {
  const left = timeLimit(context, READ_MS)
  const session = await context.link.session(left())
  const messages = await session.read
    .use((connection) => rowsFrom(context, { connection, left }, from, bytesMax))
    .catch(throwEngineError)
  const newest = messages.at(-1)?.place ?? 0
  if (newest <= session.sure()) return messages
  try {
    await makeSure(context, session, newest, barrier)
    return messages
  } catch (error) {
    const known = messages.filter(({ place }) => place <= session.sure())
    if (known.length === 0) throw error
    return known
  }
}

async function rowsFrom(
  { names }: LogContext,
  { connection, left }: Readonly<{ connection: DatabaseConnection; left: Left }>,
  from: number,
  bytesMax: number,
): Promise<readonly EngineMessage[]> {
  const rows = await connection.ask(
    `SELECT n, encode(body, 'base64') AS text FROM (
       SELECT n, body, sum(octet_length(body)) OVER (ORDER BY n) AS total
       FROM (SELECT n, body FROM ${names.table} WHERE n >= $1::bigint ORDER BY n LIMIT ${READ_ROWS}) AS near
     ) AS summed WHERE total <= $2::bigint OR total = octet_length(body) ORDER BY n`,
    [from, Math.ceil(bytesMax)],
    { answerMs: left(), prepare: true },
  )
  return rows.map((row, index) => {
    const place = Number(row['n'])
    if (place !== from + index) {
      throw new EngineError(`the table ${names.table} has row ${place}, but no row ${from + index}`)
    }
    return { place, bytes: Buffer.from(String(row['text']), 'base64') }
  })
}

/** Proves rows that are visible, and may yet be on one server only: after a cancelled wait, or a restart. */
async function makeSure(
  context: LogContext,
  session: PrimarySession,
  place: number,
  barrier: () => Promise<number>,
): Promise<void> {
  const answerMs = BARRIER_MS
  const { isProved } = await session.prove
    .use((connection) =>
      askStandbys(connection, 'pg_current_wal_insert_lsn()', { isSingle: context.isSingle, answerMs }),
    )
    .catch(throwEngineError)
  // The write-ahead log may have grown since, or its end is not written yet: a commit writes it.
  if (!isProved && (await barrier()) < place) throw new EngineError(`row ${place} is gone`)
  session.makeSure(place)
}

/**
 * Newest place before a commit that the standbys have. A primary that was replaced cannot make such a commit, because no
 * standby follows it. Throws an EngineError.
 */
export async function commitBarrier(context: LogContext): Promise<number> {
  const { link, names, isSingle } = context
  const left = timeLimit(context, BARRIER_MS)
  const session = await link.session(left())
  const place = await session.prove
    .use(async (connection) => {
      const notices = connection.notices()
      const [row] = await connection.ask(
        `SELECT (SELECT max(n) FROM ${names.table}) AS last, pg_logical_emit_message(true, 'daybook', '') AS lsn`,
        [],
        { answerMs: left() },
      )
      const flushed = 'pg_current_wal_flush_lsn()'
      const first = await askStandbys(connection, flushed, { isSingle, answerMs: left() })
      const isProved = await waitForStandbys(connection, first, { isSingle, leftMs: left })
      return isProved && connection.notices() === notices ? Number(row?.['last'] ?? 0) : null
    })
    .catch((error: unknown) => {
      condemnReadOnly(session, error)
      return throwEngineError(error)
    })
  if (place === null) throw new EngineError('no synchronous standby confirms the newest commit')
  session.makeSure(place)
  return place
}
