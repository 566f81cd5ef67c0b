import { EngineError, MissingStreamError } from '../log-engine.ts'
import type { StreamNames } from './commit-table.ts'
import { DatabaseError } from './database-connection.ts'
import type { PrimaryLink } from './primary-link.ts'
import type { PrimarySession } from './primary-session.ts'
import { errorMessage } from '../../protocol/error-reason.ts'

/** Parts that the calls of the log share. */
export type LogContext = Readonly<{
  link: PrimaryLink
  names: StreamNames
  /** Whether one database without a standby is accepted. */
  isSingle: boolean
  /** A clock in ms that never jumps, for time limits. */
  monotonicMs: () => number
}>

/** Milliseconds that are left of a time limit; 1 when it is over. */
export type Left = () => number

/** A time limit that begins now. */
export function timeLimit({ monotonicMs }: LogContext, ms: number): Left {
  const endMs = monotonicMs() + ms
  return () => Math.max(1, endMs - monotonicMs())
}

/** Ends the session when its server takes no writes any more, so that another primary is looked for. */
export function condemnReadOnly(session: PrimarySession, error: unknown): void {
  if (error instanceof DatabaseError && error.answer?.code === '25006') session.condemn()
}

/** SQLSTATE of a table that does not exist. */
const UNDEFINED_TABLE = '42P01'

/** Throws a failure of the database as an EngineError. */
export function throwEngineError(error: unknown): never {
  if (error instanceof EngineError) throw error
  if (error instanceof DatabaseError && error.answer?.code === UNDEFINED_TABLE) {
    throw new MissingStreamError(
      'the database has no table of this stream: make it with daybook cluster init',
      { cause: error },
    )
  }
  const reason = errorMessage(error)
  throw new EngineError(`PostgreSQL cannot be used: ${reason}`, { cause: error })
}
