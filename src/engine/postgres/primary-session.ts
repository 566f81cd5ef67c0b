import type { DatabaseConnection } from './database-connection.ts'
import { connectDatabase, DatabaseError } from './database-connection.ts'
import type { DatabaseHost, DatabaseTarget } from './database-target.ts'

/** Time limit of a connection and of a question about the server, in ms. */
const PROBE_MS = 2_000
/** The server ends a statement before the client gives it up. */
const STATEMENT_MS = 900
const READ_STATEMENT_MS = 9_000

/** Identity of a running server. It changes with each start of the server. */
export type ServerIdentity = Readonly<{
  systemId: string
  /** 0 while the server is a standby. */
  timeline: number
  startedAt: string
  /** Whether it takes writes: it is no standby, and not set to read only. */
  isWritable: boolean
}>

/** One connection to a server that is opened at need, and closed when a statement gets no answer in time. */
export type Worker = Readonly<{
  /** Runs work on the connection. Throws a DatabaseError. */
  use<T>(work: (connection: DatabaseConnection) => Promise<T>): Promise<T>
}>

/** The connections to one primary. The first to be lost ends all of them. */
export type PrimarySession = AsyncDisposable &
  Readonly<{
    host: DatabaseHost
    /** Address of the server for messages. */
    shown: string
    identity: ServerIdentity
    /** Hears notifications, and sends them without waiting for a standby. */
    ear: DatabaseConnection
    write: Worker
    read: Worker
    /** Commits barriers and asks about standbys. */
    prove: Worker
    /** Places up to this one are on the disks of the synchronous standbys. */
    sure(): number
    makeSure(place: number): void
    /** Ends the session: a connection reached another server, or the server takes no writes. */
    condemn(): void
    lost: Promise<void>
  }>

/** Settings that every session has, whatever the database and the role say. */
const SESSION = {
  synchronous_commit: 'on',
  client_min_messages: 'notice',
  search_path: 'pg_catalog',
  default_transaction_isolation: 'read committed',
  bytea_output: 'hex',
  statement_timeout: STATEMENT_MS,
  lock_timeout: STATEMENT_MS,
  plan_cache_mode: 'force_generic_plan',
} as const

/** Connects to one server with a role of its own in the session, and asks who the server is. */
export async function connectServer(
  target: DatabaseTarget,
  stop: AbortSignal,
  settings: Readonly<Record<string, string | number>> = {},
): Promise<Readonly<{ connection: DatabaseConnection; identity: ServerIdentity; pid: number }>> {
  const seconds = Math.min(target.connectSeconds, PROBE_MS / 1_000)
  const connection = await connectDatabase({ ...target, connectSeconds: seconds }, stop, {
    ...SESSION,
    ...settings,
  })
  try {
    return { connection, ...(await identityOf(connection)) }
  } catch (error) {
    await connection[Symbol.asyncDispose]()
    throw error
  }
}

async function identityOf(
  connection: DatabaseConnection,
): Promise<Readonly<{ identity: ServerIdentity; pid: number }>> {
  // The name of the current file of the log begins with the timeline, also right after a promotion.
  const [row] = await connection.ask(
    `SELECT s.system_identifier::text AS system, pg_postmaster_start_time()::text AS started, pg_backend_pid() AS pid,
       NOT pg_is_in_recovery() AND current_setting('transaction_read_only') = 'off' AS writable,
       CASE WHEN pg_is_in_recovery() THEN '0' ELSE left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) END AS timeline
     FROM pg_control_system() AS s`,
    [],
    { answerMs: PROBE_MS },
  )
  return {
    pid: Number(row?.['pid']),
    identity: {
      systemId: String(row?.['system']),
      timeline: Number.parseInt(String(row?.['timeline']), 16),
      startedAt: String(row?.['started']),
      isWritable: row?.['writable'] === true,
    },
  }
}

/** A server that answered, with an open connection. */
export type FoundServer = Readonly<{
  host: DatabaseHost
  connection: DatabaseConnection
  identity: ServerIdentity
}>

/** Opens the session of a primary over its first connection. `channels` are the ones to hear. */
export async function openPrimarySession(
  target: DatabaseTarget,
  { host, connection: ear, identity }: FoundServer,
  channels: readonly string[],
): Promise<PrimarySession> {
  const ended = new AbortController()
  const open = (settings: Readonly<Record<string, string | number>> = {}): Worker =>
    openWorker({ target, ear, identity, settings, ended })
  let sure = 0
  const session: PrimarySession = {
    host,
    shown: target.shown,
    identity,
    ear,
    write: open(),
    read: open({ statement_timeout: READ_STATEMENT_MS }),
    prove: open(),
    sure: () => sure,
    makeSure: (place) => void (sure = Math.max(sure, place)),
    condemn: () => ended.abort(),
    lost: ear.lost,
    async [Symbol.asyncDispose]() {
      ended.abort()
      await ear[Symbol.asyncDispose]()
    },
  }
  ended.signal.addEventListener('abort', () => void ear[Symbol.asyncDispose](), { once: true })
  void ear.lost.then(() => ended.abort())
  try {
    // A notification must not wait for a standby.
    await ear.ask('SET synchronous_commit = off', [], { answerMs: PROBE_MS })
    for (const channel of channels) await ear.ask(`LISTEN ${channel}`, [], { answerMs: PROBE_MS })
    return session
  } catch (error) {
    await session[Symbol.asyncDispose]()
    throw error
  }
}

type WorkerSettings = Readonly<{
  target: DatabaseTarget
  ear: DatabaseConnection
  identity: ServerIdentity
  settings: Readonly<Record<string, string | number>>
  ended: AbortController
}>

function openWorker({ target, ear, identity, settings, ended }: WorkerSettings): Worker {
  type Opened = Awaited<ReturnType<typeof connectServer>>
  let opening: Promise<Opened> | null = null
  const open = async (): Promise<Opened> => {
    const opened = await connectServer(target, ended.signal, settings)
    if (isSameServer(opened.identity, identity)) return opened
    await opened.connection[Symbol.asyncDispose]()
    ended.abort()
    throw new DatabaseError('the address leads to another server now', true)
  }
  const forget = (one: Promise<Opened>): void => void (opening = opening === one ? null : opening)
  const begin = (): Promise<Opened> => {
    const mine = open()
    void mine.then(
      ({ connection }) => connection.lost.then(() => forget(mine)),
      // Also after an answer: a server that was full, for example, may have room at the next attempt.
      () => forget(mine),
    )
    opening = mine
    return mine
  }
  return {
    async use(work) {
      if (ended.signal.aborted) throw new DatabaseError('the connection was closed', true)
      const mine = opening ?? begin()
      try {
        const { connection } = await mine
        return await work(connection)
      } catch (error) {
        if (error instanceof DatabaseError && error.answer === null) {
          forget(mine)
          void mine.then(
            (opened) => endBackend(ear, opened),
            () => undefined,
          )
        }
        throw error
      }
    },
  }
}

/**
 * Ends a connection and its process on the server. Closing alone would leave the process waiting for a standby, and an
 * outage of the standby would use up all connections.
 */
async function endBackend(
  ear: DatabaseConnection,
  { connection, pid }: Readonly<{ connection: DatabaseConnection; pid: number }>,
): Promise<void> {
  await Promise.allSettled([
    connection[Symbol.asyncDispose](),
    ear.ask('SELECT pg_terminate_backend($1::integer)', [pid], { answerMs: PROBE_MS }),
  ])
}

function isSameServer(one: ServerIdentity, other: ServerIdentity): boolean {
  return (
    one.systemId === other.systemId && one.timeline === other.timeline && one.startedAt === other.startedAt
  )
}
