import type { DatabaseTarget } from '../../database/database-target.ts'
import { leadTable } from './lead-table.ts'
import { type LogTable, TableError } from './log-table.ts'
import { lockOf, lookAtTable, type SessionContext } from './look-at-table.ts'
import { inspectSession } from './table-guards.ts'
import { asTableError, openTableSession, type PrimaryKeeper } from './table-session.ts'

/** Surroundings of a table. */
export type TableOptions = Readonly<{
  /** Whether one database without a synchronous standby is accepted. */
  isSingle: boolean
  /** Id of the log, of which the lock has its number. */
  logId: string
  /** The newest primary that this node has used; null for a command that keeps nothing. */
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
        // A primary that was replaced may answer for long, and has no standby: the next look searches for another one.
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
