import {
  connectDatabase,
  type DatabaseConnection,
  DatabaseError,
} from '../../command/database/database-connection.ts'
import {
  serverTarget,
  shownHost,
  type DatabaseHost,
  type DatabaseTarget,
} from '../../command/database/database-url.ts'
import { errorMessage } from '../../protocol/error-reason.ts'
import { APPEND_MS_MAX, type PrimaryIdentity, SILENCE_MS_MAX, TableError } from './log-table.ts'

/** Timeout of a connection and of a query about the server, in ms. */
const PROBE_MS = 2_000
/** Timeout of a statement on the server, shorter than the client's. */
const STATEMENT_MS = APPEND_MS_MAX - 700
/** Time in ms for other servers to answer after the first primary did. */
const OTHERS_MS = 300

/** Settings of every session, which override those of the database and the role. */
const SETTINGS: Readonly<Record<string, string>> = {
  synchronous_commit: 'on',
  client_min_messages: 'notice',
  search_path: 'pg_catalog',
  default_transaction_isolation: 'read committed',
  plan_cache_mode: 'force_generic_plan',
  statement_timeout: String(STATEMENT_MS),
  lock_timeout: String(STATEMENT_MS),
  idle_session_timeout: String(SILENCE_MS_MAX),
  idle_in_transaction_session_timeout: String(SILENCE_MS_MAX),
}

/** Query for the settings and the identity of the server. A pooler passes settings that are set like this. */
const BEGIN_SESSION = `SELECT s.system_identifier::text AS system,
    NOT pg_is_in_recovery() AND current_setting('transaction_read_only') = 'off' AS writable,
    CASE WHEN pg_is_in_recovery() THEN '0' ELSE left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) END AS timeline,
    pg_postmaster_start_time()::text AS started,
    ${Object.entries(SETTINGS)
      .map(([name, value], index) => `set_config('${name}', '${value}', false) AS s${index}`)
      .join(', ')}
  FROM pg_control_system() AS s`

/** Storage of the newest primary that a node has used, across restarts. May throw. */
export type PrimaryKeeper = Readonly<{
  read(): PrimaryIdentity | null
  write(seen: PrimaryIdentity): void
}>

/** A connection to the primary, with pinned settings. */
export type TableSession = AsyncDisposable &
  Readonly<{ connection: DatabaseConnection; server: PrimaryIdentity; host: DatabaseHost }>

/** Server that answered. A promotion begins a new timeline, so each timeline has one start. */
type FoundServer = TableSession & Readonly<{ isWritable: boolean; startedAt: string }>

/**
 * Asks all servers at once, and connects to the primary with the newest timeline. Throws a `TableError` when there is
 * none, when two have the same timeline, or when the newest is older than one used before.
 */
export async function openTableSession(
  target: DatabaseTarget,
  memory: PrimaryKeeper | null,
  stop: AbortSignal,
): Promise<TableSession> {
  const hosts = target.hosts.length === 0 ? [{ host: 'localhost', port: 5_432 }] : target.hosts
  const found: FoundServer[] = []
  const reasons: string[] = []
  let isOver = false
  const probe = async (host: DatabaseHost): Promise<void> => {
    try {
      const server = await connectServer(serverTarget(target, host), host, stop)
      if (isOver) await server[Symbol.asyncDispose]()
      else found.push(server)
    } catch (error) {
      reasons.push(`${shownHost(host)}: ${errorMessage(error)}`)
    }
  }
  const isAnswered = Promise.withResolvers<void>()
  const probes = hosts.map(async (host) => {
    await probe(host)
    if (found.some(({ isWritable }) => isWritable)) setTimeout(isAnswered.resolve, OTHERS_MS)
  })
  await Promise.race([Promise.all(probes), isAnswered.promise])
  isOver = true
  const chosen = choose(found, memory, reasons)
  const others = found.filter((one) => one !== chosen)
  await Promise.all(others.map((one) => one[Symbol.asyncDispose]()))
  if (chosen === null) throw new TableError(reasons.join('; '))
  return chosen
}

async function connectServer(
  target: DatabaseTarget,
  host: DatabaseHost,
  stop: AbortSignal,
): Promise<FoundServer> {
  const connectSeconds = Math.min(target.connectSeconds, PROBE_MS / 1_000)
  const connection = await connectDatabase({ ...target, connectSeconds }, stop)
  try {
    const [row] = await connection.ask(BEGIN_SESSION, [], { answerMs: PROBE_MS })
    const server = {
      systemId: String(row?.['system']),
      timeline: Number.parseInt(String(row?.['timeline']), 16),
    }
    return {
      connection,
      server,
      host,
      isWritable: row?.['writable'] === true,
      startedAt: String(row?.['started']),
      [Symbol.asyncDispose]: () => connection[Symbol.asyncDispose](),
    }
  } catch (error) {
    await connection[Symbol.asyncDispose]()
    throw error
  }
}

/** The primary to use; null with reasons for none. */
function choose(
  found: readonly FoundServer[],
  memory: PrimaryKeeper | null,
  reasons: string[],
): FoundServer | null {
  for (const { host, isWritable } of found) {
    if (!isWritable) reasons.push(`${shownHost(host)}: the server is a standby or takes no writes`)
  }
  const primaries = found
    .filter(({ isWritable }) => isWritable)
    .toSorted((one, other) => other.server.timeline - one.server.timeline)
  const [first] = primaries
  if (first === undefined) return null
  try {
    const seen = memory?.read() ?? null
    const fault = faultOf(first, primaries, seen)
    if (fault !== null) {
      reasons.push(fault)
      return null
    }
    const { systemId, timeline } = first.server
    if (seen?.systemId !== systemId || seen.timeline !== timeline) memory?.write({ systemId, timeline })
    return first
  } catch (error) {
    reasons.push(errorMessage(error))
    return null
  }
}

/** Reason why the newest primary cannot be used. */
function faultOf(
  first: FoundServer,
  primaries: readonly FoundServer[],
  seen: PrimaryIdentity | null,
): string | null {
  const { systemId, timeline } = seen ?? first.server
  const stranger = primaries.find(({ server }) => server.systemId !== systemId)
  if (stranger !== undefined) {
    return `${shownHost(stranger.host)}: the system identifier is another one: this is not the database of this log`
  }
  if (first.server.timeline < timeline) {
    return `${shownHost(first.host)}: its timeline is ${first.server.timeline}, older than ${timeline}, which was used before: this server was replaced; stop it`
  }
  const twin = primaries.find(
    ({ server, startedAt }) => server.timeline === first.server.timeline && startedAt !== first.startedAt,
  )
  if (twin === undefined) return null
  return `${shownHost(first.host)} and ${shownHost(twin.host)} are both primaries of timeline ${first.server.timeline}: stop the one with the shorter log`
}

/** SQLSTATE of a table that does not exist. */
const UNDEFINED_TABLE = '42P01'

/** Makes a `TableError` of any failure. */
export function asTableError(cause: unknown): TableError {
  if (cause instanceof TableError) return cause
  if (cause instanceof DatabaseError && cause.answer?.code === UNDEFINED_TABLE) {
    return new TableError(NO_TABLE, { cause })
  }
  return new TableError(`PostgreSQL cannot be used: ${errorMessage(cause)}`, { cause })
}

/** The table of the log in its schema. */
export const TABLE = 'public.daybook_log'
/** Complaint about a database without the table. */
export const NO_TABLE: string = `there is no table ${TABLE}: \`daybook cluster init\` prints the SQL that makes it`
