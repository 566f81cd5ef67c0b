import { Socket } from 'node:net'
import { userInfo } from 'node:os'
import { Client, type ClientConfig, DatabaseError as ServerError, defaults, type QueryResult } from 'pg'
import { errorMessage } from '../../protocol/error-reason.ts'
import type { DatabaseHost, DatabaseTarget } from './database-url.ts'

/** Timeout in ms after which an unanswered statement counts as a lost connection. The server gives up before it. */
const ANSWER_MS = 40_000
const STATEMENT_MS = 30_000
/** Time in ms in which a connection ends politely. */
const END_MS_MAX = 500

/** Timeout of one statement, and whether the server caches its plan. */
type AskOptions = Readonly<{ answerMs?: number; prepare?: boolean }>

/** Row by column names. Text, numbers of at most 32 bits, booleans, bytes and null keep their types. */
type DatabaseRow = Readonly<Record<string, unknown>>

/** One connection to a database. It is never replaced silently, because locks and notifications belong to it. */
export type DatabaseConnection = AsyncDisposable &
  Readonly<{
    /**
     * Rows of a statement. A text without values may have several statements, of which the last gives the rows.
     * Statements are sent immediately, in order, without waiting for earlier answers. Throws a DatabaseError, also when
     * no answer comes within the timeout (40 s by default).
     */
    ask(
      statement: string,
      values?: readonly (string | number)[],
      options?: AskOptions,
    ): Promise<readonly DatabaseRow[]>
    /** Called at each notification on a channel that this connection listens to. */
    onNotification(listener: (channel: string, payload: string) => void): void
    /** Number of notices and warnings that the server has sent. */
    notices(): number
    /** Whether the server asked for a password at the start. */
    isPasswordAsked(): boolean
    /** Resolves when the connection is lost or closed. */
    lost: Promise<void>
  }>

/** Failure of a connection or a statement. Its message contains no value of a statement. */
export class DatabaseError extends Error {
  override readonly name = 'DatabaseError'
  /** Whether a later attempt may succeed: the server is unreachable, starting, full or busy. */
  readonly passes: boolean
  /** Error of the server; null when there was none, because the connection is lost or the answer was late. */
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

/** Error of the server: its SQLSTATE, and the constraint that it names, if any. */
type DatabaseAnswer = Readonly<{ code: string; constraint: string | null }>

/** Settings of a session, such as `statement_timeout`, by name. */
type SessionSettings = Readonly<Record<string, string | number>>

/** Connects to the first of the servers that accepts a connection. Throws a DatabaseError. */
export async function connectDatabase(
  target: DatabaseTarget,
  stop: AbortSignal,
  session: SessionSettings = {},
): Promise<DatabaseConnection> {
  const [first = null, ...others] = target.hosts
  let attempt = await connectHost(target, first, stop, session)
  for (const host of others) {
    if (!('error' in attempt) || attempt.isReached || stop.aborted) break
    attempt = await connectHost(target, host, stop, session)
  }
  if ('error' in attempt) throw asDatabaseError(attempt.error)
  return attempt.connection
}

/** A connection, or the reason for its failure and whether the server accepted the socket. */
type Attempt = Readonly<{ connection: DatabaseConnection } | { error: unknown; isReached: boolean }>

async function connectHost(
  target: DatabaseTarget,
  host: DatabaseHost | null,
  stop: AbortSignal,
  session: SessionSettings,
): Promise<Attempt> {
  const connect = (tls: Exclude<DatabaseTarget['tls'], 'prefer'>): Promise<Attempt> =>
    connectOnce(clientSettings(target, host, tls, session), stop)
  // A Unix socket has no TLS.
  if (host?.host.startsWith('/') === true) return await connect(false)
  if (target.tls !== 'prefer') return await connect(target.tls)
  const secured = await connect({ rejectUnauthorized: false })
  return 'error' in secured && messageOf(secured.error) === NO_TLS ? await connect(false) : secured
}

async function connectOnce(settings: ClientConfig, stop: AbortSignal): Promise<Attempt> {
  // The client cannot be ended immediately while it connects, but its socket can.
  const socket = new Socket()
  let isReached = false
  socket.once('connect', () => void (isReached = true))
  const client = new Client({ ...settings, stream: () => socket })
  const loss = openLoss()
  const connection = connectionOf(client, socket, loss)
  const abort = (): void => void connection[Symbol.asyncDispose]()
  stop.addEventListener('abort', abort, { once: true })
  // Connections come and go, while the stop stays.
  void loss.lost.then(() => stop.removeEventListener('abort', abort))
  try {
    if (stop.aborted) throw closed()
    await loss.during(() => client.connect())
    return { connection }
  } catch (error) {
    await connection[Symbol.asyncDispose]()
    const isLate = messageOf(error) === 'timeout expired'
    return { error: isLate ? late(isReached) : error, isReached }
  }
}

function connectionOf(client: Client, socket: Socket, loss: ConnectionLoss): DatabaseConnection {
  const listeners: ((channel: string, payload: string) => void)[] = []
  const names = new Map<string, string>()
  let notices = 0
  let isAsked = false
  client.on('error', (error) => loss.report(asDatabaseError(error)))
  client.on('end', () => loss.report(closed()))
  client.on('notice', () => void (notices += 1))
  client.on('notification', ({ channel, payload = '' }) => {
    for (const listener of listeners) listener(channel, payload)
  })
  const { password } = client
  Object.assign(client, {
    password() {
      isAsked = true
      // The default of the environment is among it.
      return password ?? ''
    },
  })

  /** Name under which the server caches the plan of a statement. */
  function nameOf(statement: string): string {
    const name = names.get(statement) ?? `daybook_${names.size + 1}`
    names.set(statement, name)
    return name
  }

  return {
    async ask(statement, values = [], { answerMs = ANSWER_MS, prepare = false } = {}) {
      const query = {
        text: statement,
        values: [...values],
        ...(prepare && { name: nameOf(statement) }),
      }
      const answer: QueryResult | readonly QueryResult[] = await answered(
        () => client.query(query),
        answerMs,
        loss,
      )
      return Array.isArray(answer) ? (answer.at(-1)?.rows ?? []) : answer.rows
    },
    onNotification: (listener) => void listeners.push(listener),
    notices: () => notices,
    isPasswordAsked: () => isAsked,
    lost: loss.lost,
    async [Symbol.asyncDispose]() {
      loss.report(closed())
      const ended = new Promise((resolve) => setTimeout(resolve, END_MS_MAX).unref())
      await Promise.race([client.end().catch(() => undefined), ended])
      socket.destroy()
    },
  }
}

/** Result of a request, or a DatabaseError when the connection is lost or no answer comes in time. */
async function answered<T>(ask: () => PromiseLike<T>, ms: number, loss: ConnectionLoss): Promise<T> {
  const over = Promise.withResolvers<never>()
  const timer = setTimeout(() => over.reject(new DatabaseError('no answer came in time', true)), ms)
  try {
    return await loss.during(() => Promise.race([ask(), over.promise]))
  } catch (error) {
    throw asDatabaseError(error)
  } finally {
    clearTimeout(timer)
  }
}

function clientSettings(
  target: DatabaseTarget,
  host: DatabaseHost | null,
  tls: Exclude<DatabaseTarget['tls'], 'prefer'>,
  session: SessionSettings,
): ClientConfig {
  const { applicationName, connectSeconds, database, options, password, user } = target
  // The client reads this name only from `USER`, which cron and containers may not set. `PGUSER` takes precedence.
  defaults.user ??= systemUser()
  const settings = {
    statement_timeout: STATEMENT_MS,
    // The server thereby frees the lock of a drainer whose machine is gone.
    tcp_keepalives_idle: 30,
    tcp_keepalives_interval: 10,
    tcp_keepalives_count: 3,
    ...session,
  }
  return {
    ...host,
    ...(user !== null && { user }),
    ...(password !== null && { password }),
    ...(database !== null && { database }),
    ssl: tls !== false && tls.checksName === false ? { ...tls, checkServerIdentity: () => undefined } : tls,
    application_name: applicationName,
    connectionTimeoutMillis: connectSeconds * 1_000,
    options: [options ?? '', ...Object.entries(settings).map(optionOf)].join(' ').trim(),
    pipeline: true,
  }
}

/** Name of the user that runs this process; undefined for a number without a name. */
function systemUser(): string | undefined {
  try {
    return userInfo().username
  } catch {
    return undefined
  }
}

/** Setting as an option of a session, with escaped spaces. */
function optionOf([name, value]: readonly [string, string | number]): string {
  return `-c ${name}=${String(value).replaceAll(/[\\ ]/g, '\\$&')}`
}

const closed = (): DatabaseError => new DatabaseError('the connection was closed', true)

function late(isReached: boolean): DatabaseError {
  const words = isReached
    ? 'the server took the connection, and gave no answer in time'
    : 'no connection in time'
  return new DatabaseError(words, true)
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : ''
}

/** SQLSTATE classes of temporary failures: connection, rollback, resources, intervention, system. */
const PASSING = /^(?:08|40|53|55|57|58)/
/** Messages of the client for temporary failures, with ours to replace them. */
const NO_TLS = 'The server does not support SSL connections'
const PASSING_WORDS: ReadonlyMap<string, string> = new Map([
  ['Connection terminated', 'the connection was closed'],
  ['Connection terminated unexpectedly', 'the connection was closed'],
  ['Client was closed and is not queryable', 'the connection was closed'],
  ['Client has encountered a connection error and is not queryable', 'the connection was closed'],
  [NO_TLS, 'the server has no TLS'],
])
/** Messages of the client, with ours to replace them. */
const WRONG_WORDS: ReadonlyMap<string, string> = new Map([
  ['There was an error establishing an SSL connection', 'the server gave no right answer about TLS'],
  [
    'SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a non-empty string',
    'the server asks for a password, and none is given',
  ],
])

function asDatabaseError(error: unknown): DatabaseError {
  if (error instanceof DatabaseError) return error
  if (error instanceof ServerError) {
    const { code = '', constraint = null } = error
    const answer = { code, constraint }
    return new DatabaseError(`${error.message} (${code})`, PASSING.test(code), { cause: error, answer })
  }
  if (error instanceof AggregateError) return asDatabaseError(error.errors[0])
  const own = errorMessage(error)
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const passes = PASSING_WORDS.has(own) || /^E(?:AI_)?[A-Z]+$/.test(code)
  const words = PASSING_WORDS.get(own) ?? WRONG_WORDS.get(own) ?? own
  return new DatabaseError(words, passes, { cause: error })
}

/** Loss of a connection. Many statements wait for it over its life, each for a short while. */
type ConnectionLoss = Readonly<{
  /** Reports the loss. Ends everything that waits, now and later. Only the first reason counts. */
  report(reason: Error): void
  /** Settles as the work does, or rejects when the connection is lost. Begins no work after the loss. */
  during<T>(work: () => PromiseLike<T> | T): Promise<T>
  /** Resolves at the loss. */
  lost: Promise<void>
}>

/** Opens the loss of a new connection. */
function openLoss(): ConnectionLoss {
  // A promise would keep something of each statement that ever raced it.
  const waiting = new Set<(reason: Error) => void>()
  const lost = Promise.withResolvers<void>()
  let first: Error | null = null
  return {
    report(reason) {
      if (first !== null) return
      first = reason
      lost.resolve()
      for (const reject of waiting) reject(reason)
    },
    async during(work) {
      if (first !== null) throw first
      const { promise, reject } = Promise.withResolvers<never>()
      waiting.add(reject)
      try {
        return await Promise.race([work(), promise])
      } finally {
        waiting.delete(reject)
      }
    },
    lost: lost.promise,
  }
}
