import { APPEND_MS_MAX, type AppendAnswer, type LeadSession, type LogTable, TableError } from './log-table.ts'
import { lockOf, lookAtTable, type SessionContext, timeLeft } from './look-at-table.ts'
import { inspectSession } from './table-guards.ts'
import { asTableError, openTableSession, type PrimaryKeeper, TABLE } from './table-session.ts'
import { randomBytes } from 'node:crypto'
import { setInterval } from 'node:timers'
import { DatabaseError } from '../../command/database/database-connection.ts'
import { askStandbyState, untilFlushed } from './standby-proof.ts'
import type { DatabaseTarget } from '../../command/database/database-url.ts'

/** Surroundings of a table. */
export type TableOptions = Readonly<{
  /** Whether one database without a synchronous standby is accepted. */
  isSingle: boolean
  /** Id of the log, which determines the number of the lock. */
  logId: string
  /** Newest primary that this node has used; null for a command that stores nothing. */
  memory: PrimaryKeeper | null
  nowMs: () => number
  /** A clock in ms that never jumps, for time limits. */
  monotonicMs: () => number
}>

/** Opens the table of a log in a database. Connects at the first call. */
export function openLogTable(target: DatabaseTarget, options: TableOptions): LogTable {
  const stop = new AbortController()
  const lock = lockOf(options.logId)
  let following: Promise<SessionContext> | null = null
  const open = async (): Promise<SessionContext> => {
    if (stop.signal.aborted) throw new TableError('the table is closed')
    const session = await openTableSession(target, options.memory, stop.signal)
    const { isSingle, monotonicMs } = options
    return { session, isSingle, lock, monotonicMs, sure: { place: 0 } }
  }
  const forget = (one: Promise<SessionContext>): void =>
    void (following = following === one ? null : following)
  const begin = (): Promise<SessionContext> => {
    const mine = open()
    following = mine
    void mine.then(
      ({ session }) => session.connection.lost.then(() => forget(mine)),
      () => forget(mine),
    )
    return mine
  }
  return {
    async look(from, bytesMax, applied) {
      const mine = following ?? begin()
      const replace = async (): Promise<void> => {
        forget(mine)
        await mine.then(
          ({ session }) => session[Symbol.asyncDispose](),
          () => undefined,
        )
      }
      try {
        const look = await lookAtTable(await mine, from, bytesMax, applied)
        // A replaced primary may answer for long, and has no standby. The next read searches for another one.
        if (!look.isProved && target.hosts.length > 1) await replace()
        return look
      } catch (error) {
        await replace()
        throw asTableError(error)
      }
    },
    async lead(applied) {
      try {
        return await leadTable(await open(), applied, options.nowMs)
      } catch (error) {
        throw asTableError(error)
      }
    },
    async [Symbol.asyncDispose]() {
      stop.abort()
      await following?.then(
        ({ session }) => session[Symbol.asyncDispose](),
        () => undefined,
      )
    },
  }
}

/** Faults of the server, its standbys, the role, the table and the connection to it, one sentence each. Throws a `TableError`. */
export async function inspectTable(
  target: DatabaseTarget,
  isSingle: boolean,
  memory: PrimaryKeeper | null,
): Promise<readonly string[]> {
  try {
    await using session = await openTableSession(target, memory, new AbortController().signal)
    return await inspectSession(session, isSingle)
  } catch (error) {
    throw asTableError(error)
  }
}

/** Interval in ms at which an idle leader checks the fence, and the timeout of the answer. */
const BEAT_MS = 1_000
const BEAT_ANSWER_MS = 2_000
/** Timeout of a call in ms. The rest of `APPEND_MS_MAX` is for a last answer and our own event loop. */
const CALL_MS = APPEND_MS_MAX - 500
/**
 * SQLSTATE of a violated primary key, the only constraint of this kind. It is definite: the transaction has ended and
 * inserted nothing.
 */
const UNIQUE_VIOLATION = '23505'
const POOLER =
  'the session is shared with another one: connect to PostgreSQL itself, not to a pooler such as PgBouncer'

/** Fence: the session has this nonce. Behind a pooler another session may answer, or the session may have lost it. */
const HAS_NONCE = "current_setting('daybook.session', true) ="

/**
 * Takes the lock in a new session, and disposes of the session unless it leads. Null when another session has the lock.
 * Throws.
 */
async function leadTable(
  context: SessionContext,
  applied: number,
  nowMs: () => number,
): Promise<LeadSession | null> {
  const { session, lock, isSingle } = context
  const { connection } = session
  const nonce = randomBytes(16).toString('hex')
  const answerMs = CALL_MS
  try {
    const [before] = await connection.ask(
      "SELECT coalesce(current_setting('daybook.session', true), '') AS nonce",
      [],
      { answerMs },
    )
    if (before?.['nonce'] !== '') throw new TableError(POOLER)
    await connection.ask(
      "SELECT set_config('daybook.session', $1, false), set_config('application_name', $2, false)",
      [nonce, `daybook ${applied}`],
      { answerMs },
    )
    const [answer] = await connection.ask(
      `SELECT pg_try_advisory_lock($1::bigint) AS locked WHERE ${HAS_NONCE} $2`,
      [lock, nonce],
      { answerMs },
    )
    if (answer === undefined) throw new TableError(POOLER)
    if (answer['locked'] !== true) {
      await session[Symbol.asyncDispose]()
      return null
    }
    const faults = await inspectSession(session, isSingle)
    if (faults.length > 0) throw new TableError(faults.join('; '))
    return openLead(context, nonce, nowMs)
  } catch (error) {
    await session[Symbol.asyncDispose]()
    throw asTableError(error)
  }
}

function openLead(context: SessionContext, nonce: string, nowMs: () => number): LeadSession {
  const { session, monotonicMs } = context
  const { connection } = session
  let pending = 0
  const during = async <Value>(work: () => Promise<Value>): Promise<Value> => {
    pending += 1
    try {
      return await work()
    } catch (error) {
      throw asTableError(error)
    } finally {
      pending -= 1
    }
  }
  const beat = async (): Promise<void> => {
    try {
      const [row] = await connection.ask(`SELECT ${HAS_NONCE} $1 AS mine`, [nonce], {
        answerMs: BEAT_ANSWER_MS,
        prepare: true,
      })
      if (row?.['mine'] !== true) await session[Symbol.asyncDispose]()
    } catch {
      await session[Symbol.asyncDispose]()
    }
  }
  const timer = setInterval(() => {
    if (pending === 0) void during(beat)
  }, BEAT_MS)
  void connection.lost.then(() => clearInterval(timer))
  return {
    look: (from, bytesMax, applied) => during(() => lookAtTable(context, from, bytesMax, applied)),
    barrier: () => during(() => commitBarrier(context, nonce)),
    async append(place, bytes) {
      try {
        return await during(() => appendRow(context, nonce, place, bytes))
      } catch {
        return 'unknown'
      }
    },
    clockOffset: () =>
      during(async () => {
        const beganMs = monotonicMs()
        const [row] = await connection.ask(
          'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::double precision AS now',
          [],
          { answerMs: CALL_MS, prepare: true },
        )
        const errorMs = (monotonicMs() - beganMs) / 2
        return { offsetMs: Number(row?.['now']) - (nowMs() - errorMs), errorMs }
      }),
    lost: connection.lost,
    [Symbol.asyncDispose]: () => session[Symbol.asyncDispose](),
  }
}

/**
 * Newest place before a commit that the standbys have. A replaced primary cannot make such a commit, because it has no
 * standby.
 */
async function commitBarrier(
  { session, isSingle, monotonicMs, sure }: SessionContext,
  nonce: string,
): Promise<number> {
  const { connection } = session
  const leftMs = timeLeft(monotonicMs, CALL_MS)
  const notices = connection.notices()
  const [answer, state] = await Promise.all([
    connection.ask(
      `SELECT (SELECT max(place) FROM ${TABLE}) AS last, pg_logical_emit_message(true, 'daybook', '') AS lsn
        WHERE ${HAS_NONCE} $1`,
      [nonce],
      { answerMs: leftMs() },
    ),
    askStandbyState(connection, isSingle, leftMs()),
  ])
  const [row] = answer
  if (row === undefined) throw new TableError(POOLER)
  if (!(await untilFlushed(connection, state, isSingle, leftMs)) || connection.notices() !== notices) {
    throw new TableError('no synchronous standby confirms the newest commit')
  }
  const last = Number(row['last'] ?? 0)
  sure.place = last
  return last
}

/** Inserts the row of a place, unless the place is not the next free one or the session does not lead. */
async function appendRow(
  { session, isSingle, monotonicMs, sure }: SessionContext,
  nonce: string,
  place: number,
  bytes: Uint8Array,
): Promise<AppendAnswer> {
  const { connection } = session
  const leftMs = timeLeft(monotonicMs, CALL_MS)
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
  const notices = connection.notices()
  // The query about the standbys is sent before the answer, which saves a round trip.
  const [inserted, state] = await Promise.allSettled([
    connection.ask(
      `INSERT INTO ${TABLE} (place, body) SELECT $1::bigint, decode($2::text, 'base64')
        WHERE ${HAS_NONCE} $3 AND CASE WHEN $1::bigint = 1 THEN NOT EXISTS (SELECT FROM ${TABLE})
          ELSE EXISTS (SELECT FROM ${TABLE} WHERE place = $1::bigint - 1) END
        RETURNING set_config('application_name', 'daybook ' || place, false)`,
      [place, body, nonce],
      { answerMs: leftMs(), prepare: true },
    ),
    askStandbyState(connection, isSingle, leftMs()),
  ])
  if (inserted.status === 'rejected') {
    const { reason } = inserted
    const isTaken = reason instanceof DatabaseError && reason.answer?.code === UNIQUE_VIOLATION
    return isTaken ? 'refused' : 'unknown'
  }
  if (inserted.value.length === 0) return 'refused'
  // A cancelled wait for the standby is a warning at COMMIT: only this server has the row.
  if (connection.notices() !== notices || state.status === 'rejected') return 'unknown'
  if (!(await untilFlushed(connection, state.value, isSingle, leftMs))) return 'unknown'
  sure.place = place
  return 'appended'
}

/** Table that carries the log (`--log-store`), structured-cloneable for other threads. */
export type TableSettings = Readonly<{
  database: DatabaseTarget
  /** Whether one database without a synchronous standby is accepted. */
  isSingle: boolean
}>
