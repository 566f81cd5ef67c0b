import type { Appended } from '../log-engine.ts'
import { ATTEMPT_MS_MAX } from '../log-engine.ts'
import type { DatabaseConnection } from './database-connection.ts'
import { DatabaseError } from './database-connection.ts'
import type { Left, LogContext } from './log-context.ts'
import { condemnReadOnly, timeLimit } from './log-context.ts'
import type { PrimarySession } from './primary-session.ts'
import { askStandbys, waitForStandbys } from './standby-proof.ts'

/** Time limit of an attempt in ms. The rest of `ATTEMPT_MS_MAX` is for our own event loop. */
const APPEND_MS = ATTEMPT_MS_MAX - 50
/** SQLSTATE of a violated primary key. It is definite: the transaction has ended, and has inserted nothing. */
const UNIQUE_VIOLATION = '23505'

/** Inserts the row of a place, unless the place is not the next free one. Every doubt is `unknown`. */
export async function appendCommit(context: LogContext, place: number, bytes: Uint8Array): Promise<Appended> {
  const left = timeLimit(context, APPEND_MS)
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
  const late = Promise.withResolvers<Appended>()
  const timer = setTimeout(() => late.resolve('unknown'), APPEND_MS)
  try {
    const session = await context.link.session(left())
    const insertion = session.write.use((connection) => {
      return insert({ context, session, connection, left }, place, body)
    })
    const appended = await Promise.race([insertion, late.promise])
    if (appended === 'appended') session.makeSure(place)
    return appended
  } catch {
    return 'unknown'
  } finally {
    clearTimeout(timer)
  }
}

type Attempt = Readonly<{
  context: LogContext
  session: PrimarySession
  connection: DatabaseConnection
  left: Left
}>

async function insert(
  { context, session, connection, left }: Attempt,
  place: number,
  body: string,
): Promise<Appended> {
  if (left() <= 1) return 'unknown'
  const { isSingle, names } = context
  const notices = connection.notices()
  // The question about the standbys is sent before the answer, and so costs no round trip.
  const [inserted, standbys] = await Promise.allSettled([
    connection.ask(
      `INSERT INTO ${names.table} (n, body) SELECT $1::bigint, decode($2::text, 'base64')
        WHERE $1::bigint = 1 OR EXISTS (SELECT FROM ${names.table} WHERE n = $1::bigint - 1) RETURNING n`,
      [place, body],
      { answerMs: left(), prepare: true },
    ),
    askStandbys(connection, 'pg_current_wal_flush_lsn()', { isSingle, answerMs: left() }),
  ])
  if (inserted.status === 'rejected') {
    if (isTaken(inserted.reason, names.key)) return 'taken'
    condemnReadOnly(session, inserted.reason)
    throw inserted.reason
  }
  if (inserted.value.length === 0) return 'taken'
  // A cancelled wait for the standby is a warning at COMMIT: the row is on this server only.
  if (connection.notices() !== notices) return 'unknown'
  if (standbys.status === 'rejected') throw standbys.reason
  const isProved = await waitForStandbys(connection, standbys.value, { isSingle, leftMs: left })
  return isProved ? 'appended' : 'unknown'
}

function isTaken(error: unknown, key: string): boolean {
  const answer = error instanceof DatabaseError ? error.answer : null
  return answer?.code === UNIQUE_VIOLATION && answer.constraint === key
}
