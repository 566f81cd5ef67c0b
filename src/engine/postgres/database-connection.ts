import type { Socket } from 'node:net'
import postgres from 'postgres'
import type { ConnectionLoss } from './connection-loss.ts'
import { openLoss } from './connection-loss.ts'
import type { ChosenServers, OpenedSocket } from './database-socket.ts'
import { openSocket, secureSocket } from './database-socket.ts'
import type { DatabaseTarget } from './database-target.ts'
import { errorMessage } from '../../protocol/error-reason.ts'

/** Time in ms after which an unanswered statement counts as a lost connection. The server gives up before it. */
const ANSWER_MS = 40_000
const STATEMENT_MS = 30_000

/** Limit of one statement, and whether the server keeps its plan for the next time. */
type AskOptions = Readonly<{ answerMs?: number; prepare?: boolean }>

/** One connection to a database. It is never replaced silently, because locks and notifications belong to it. */
export type DatabaseConnection = AsyncDisposable &
  Readonly<{
    /** Rows of one statement. Throws a DatabaseError, also when no answer comes within the limit (40 s by default). */
    ask(
      statement: string,
      values?: readonly (string | number)[],
      options?: AskOptions,
    ): Promise<readonly postgres.Row[]>
    /** Called at each notification on a channel that this connection listens to. */
    onNotification(listener: (channel: string, payload: string) => void): void
    /** Number of notices and warnings that the server has sent. */
    notices(): number
    /** Whether the server asked for a password at the start. */
    isPasswordAsked(): boolean
    /** Resolves when the connection is lost or closed. */
    lost: Promise<void>
  }>

/** Failure of a connection or a statement. Its message holds no value of a statement. */
export class DatabaseError extends Error {
  override readonly name = 'DatabaseError'
  /** Whether the same attempt may succeed later: the server is away, starting, full or busy. */
  readonly passes: boolean
  /** The server's answer; null when there was none: the connection is lost, or the answer came too late. */
  readonly answer: DatabaseAnswer | null

  constructor(
    message: string,
    passes: boolean,
    { answer = null, ...options }: ErrorOptions & { answer?: DatabaseAnswer | null } = {},
  ) {
    super(message, options)
    this.passes = passes
    this.answer = answer
  }
}

/** An error as the server sends it: its SQLSTATE, and the constraint that it names, if any. */
type DatabaseAnswer = Readonly<{ code: string; constraint: string | null }>

/** Settings of a session, such as `statement_timeout`, by name. */
type SessionSettings = Readonly<Record<string, string | number>>

/** Connects to the first of the servers that answers. Throws a DatabaseError. */
export async function connectDatabase(
  target: DatabaseTarget,
  stop: AbortSignal,
  session: SessionSettings = {},
): Promise<DatabaseConnection> {
  const listeners: ((channel: string, payload: string) => void)[] = []
  let notices = 0
  const loss = openLoss()
  let socket: Socket | null = null
  const settings = {
    ...clientSettings(target, session),
    // The socket below is secured already.
    ssl: false,
    onnotify: (channel: string, payload: string) =>
      listeners.forEach((listener) => listener(channel, payload)),
    onnotice: () => void (notices += 1),
    onclose: () => loss.tell(new DatabaseError('the connection was closed', true)),
    // The client opens one socket; it would replace a lost one, and the locks would be gone unnoticed.
    async socket(chosen: ChosenServers): Promise<Socket> {
      try {
        if (socket !== null) throw new DatabaseError('the connection was closed', true)
        const ms = target.connectSeconds * 1_000
        const opened = await openSocket(chosen, ms)
        socket = opened.socket
        socket = await secureUnlessLost(opened, target.tls, ms, loss)
        return socket
      } catch (error) {
        // The client keeps the error of one of several servers to itself, and would let its caller wait.
        loss.tell(asDatabaseError(error))
        throw error
      }
    },
  }
  const sql = postgres(settings)
  const isAsked = watchPassword(sql)
  const close = async (): Promise<void> => {
    loss.tell(new DatabaseError('the connection was closed', true))
    await sql.end({ timeout: 0 }).catch(() => undefined)
    socket?.destroy()
  }
  const ask: DatabaseConnection['ask'] = async (statement, values = [], options = {}) => {
    const { answerMs = ANSWER_MS, prepare = false } = options
    // After the loss the client would wait for ever for another socket.
    return answered(() => sql.unsafe(statement, [...values], { prepare }), answerMs, loss)
  }
  const abort = (): void => void close()
  stop.addEventListener('abort', abort, { once: true })
  // Connections come and go, while the stop stays.
  void loss.lost.then(() => stop.removeEventListener('abort', abort))
  const connection: DatabaseConnection = {
    ask,
    onNotification: (listener) => void listeners.push(listener),
    notices: () => notices,
    isPasswordAsked: isAsked,
    lost: loss.lost,
    [Symbol.asyncDispose]: close,
  }
  try {
    await ask('SELECT 1')
    return connection
  } catch (error) {
    await connection[Symbol.asyncDispose]()
    throw error
  }
}

/** Secures a socket. Destroys it when the connection is lost meanwhile: the client forgets one that arrives after its end. */
async function secureUnlessLost(
  opened: OpenedSocket,
  tls: DatabaseTarget['tls'],
  ms: number,
  loss: ConnectionLoss,
): Promise<Socket> {
  try {
    return await loss.during(() => (tls === false ? opened.socket : secureSocket(opened, tls, ms)))
  } catch (error) {
    opened.socket.destroy()
    throw error
  }
}

/** The answer, or a DatabaseError, also at the loss or after some milliseconds without an answer. */
async function answered<T>(ask: () => PromiseLike<T>, ms: number, loss: ConnectionLoss): Promise<T> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new DatabaseError('no answer came in time', true)), ms)
  try {
    return await loss.during(() => Promise.race([ask(), late.promise]))
  } catch (error) {
    throw asDatabaseError(error)
  } finally {
    clearTimeout(timer)
  }
}

/** Tells later whether the client had to send a password. */
function watchPassword(sql: postgres.Sql): () => boolean {
  const password: unknown = sql.options.pass
  let isAsked = false
  const pass = (): unknown => {
    isAsked = true
    return password
  }
  Object.assign(sql.options, { pass })
  return () => isAsked
}

function clientSettings(
  { hosts, user, password, database, ...target }: DatabaseTarget,
  session: SessionSettings,
): object {
  const [first] = hosts
  const isSocket = first?.host.startsWith('/') === true
  return {
    ...(first === undefined ? {} : isSocket ? { path: `${first.host}/.s.PGSQL.${first.port}` } : {}),
    ...(first === undefined || isSocket
      ? {}
      : { host: hosts.map(({ host }) => host), port: hosts.map(({ port }) => port) }),
    ...(user === null ? {} : { user }),
    ...(password === null ? {} : { password }),
    ...(database === null ? {} : { database }),
    connect_timeout: target.connectSeconds,
    max: 1,
    idle_timeout: null,
    max_lifetime: null,
    fetch_types: false,
    // Each statement says whether it is prepared.
    prepare: true,
    connection: {
      application_name: target.applicationName,
      ...(target.options === null ? {} : { options: target.options }),
      statement_timeout: STATEMENT_MS,
      // The server frees the lock of a drainer whose machine is gone.
      tcp_keepalives_idle: 30,
      tcp_keepalives_interval: 10,
      tcp_keepalives_count: 3,
      ...session,
    },
  }
}

/** SQLSTATE classes of failures that pass: connection, rollback, resources, intervention, system. */
const PASSING = /^(?:08|40|53|55|57|58)/
/** Words for failures of the client, whose own name an address that it does not know. */
const CLIENT_WORDS: ReadonlyMap<string, string> = new Map([
  ['CONNECT_TIMEOUT', 'the server took the connection, and gave no answer in time'],
  ['CONNECTION_CLOSED', 'the connection was closed'],
  ['CONNECTION_DESTROYED', 'the connection was closed'],
  ['CONNECTION_ENDED', 'the connection was closed'],
])

function asDatabaseError(error: unknown): DatabaseError {
  if (error instanceof DatabaseError) return error
  if (error instanceof postgres.PostgresError) {
    const answer = { code: error.code, constraint: error.constraint_name ?? null }
    return new DatabaseError(`${error.message} (${error.code})`, PASSING.test(error.code), {
      cause: error,
      answer,
    })
  }
  if (error instanceof AggregateError) return asDatabaseError(error.errors[0])
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const isTimeout = error instanceof Error && /^(?:AbortError|TimeoutError)$/.test(error.name)
  const own = errorMessage(error)
  const message = isTimeout ? 'no connection in time' : (CLIENT_WORDS.get(code) ?? own)
  const passes = isTimeout || /^E(?:AI_)?[A-Z]+$|^CONNECT/.test(code)
  return new DatabaseError(message, passes, { cause: error })
}
