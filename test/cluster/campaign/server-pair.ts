import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import postgres from 'postgres'
import type { PostgresServer } from '../../outbox/postgres-server.ts'
import { startPostgresServer } from '../../outbox/postgres-server.ts'
import { freePort } from '../../processes/free-ports.ts'
import { until } from '../../processes/other-program.ts'
import type { FaultRelay } from '../../torture/history/fault-relay.ts'
import { openFaultRelay } from '../../torture/history/fault-relay.ts'

const PROMOTE_SECONDS_MAX = 30
const SETTINGS = ['wal_keep_size=64MB', 'wal_retrieve_retry_interval=100ms', 'max_connections=80']
/** Each server names both, so that each can become the primary. */
const REPLICATED = `
synchronous_standby_names = 'ANY 1 (daybook_0, daybook_1)'
synchronous_commit = on
wal_sender_timeout = 10s
wal_receiver_timeout = 10s
`

/** Which of the two servers that the nodes know. */
export type Slot = 0 | 1

/** A primary and a synchronous standby on the loopback. Either can take the other's part. */
export type ServerPair = AsyncDisposable &
  Readonly<{
    primary(): PostgresServer
    standby(): PostgresServer
    /** Port of the server that has a slot now. */
    port(slot: Slot): number
    primaryPort(): number
    /** Relay between a standby and its primary. */
    replication: FaultRelay
    /** Runs statements as an administrator, without waiting for a standby. Returns the rows of the last one. */
    sql(server: PostgresServer, ...statements: readonly string[]): Promise<readonly postgres.Row[]>
    /** Runs statements in a database of the primary, as `sql` does. */
    sqlIn(database: string, ...statements: readonly string[]): Promise<readonly postgres.Row[]>
    /** Makes the standby the primary. The old primary goes on, unless it was ended before. */
    promote(): Promise<void>
    /** Ends the server that is not the primary, and makes a new standby in its place. */
    rebuildStandby(): Promise<void>
    /** Makes a further standby that nobody waits for, and ends it: it lacks what is committed from now on. */
    copyAside(): Promise<PostgresServer>
    /** Kills both servers, makes the copy the primary, and gives it a new standby. */
    promoteCopy(copy: PostgresServer): Promise<void>
    /** Resolves when a synchronous standby streams. */
    untilSynchronous(): Promise<void>
  }>

export async function openServerPair(folder: string): Promise<ServerPair> {
  await using opening = new AsyncDisposableStack()
  // The servers run as another user, who must get at their folders.
  chmodSync(folder, 0o755)
  const ports = new Map<PostgresServer, number>()
  const start = async (name: string, standbyOf: string | null): Promise<PostgresServer> => {
    const own = join(folder, `postgres-${ports.size}`)
    mkdirSync(own)
    const port = await freePort()
    const settings = [`cluster_name=daybook_${name}`, ...SETTINGS]
    const server = await startPostgresServer(own, { port, standbyOf, settings })
    ports.set(server, port)
    return server
  }
  opening.defer(async () => void (await Promise.all(ports.keys().map((server) => server.end('SIGKILL')))))
  const portOf = (server: PostgresServer | undefined): number => (server && ports.get(server)) ?? 0

  const slots: PostgresServer[] = []
  let leading: Slot = 0
  const other = (): Slot => (leading === 0 ? 1 : 0)
  const primary = (): PostgresServer => slots[leading] as PostgresServer
  const standby = (): PostgresServer => slots[other()] as PostgresServer
  const replication = opening.use(await openFaultRelay(() => portOf(primary())))
  const origin = `postgres://tester@127.0.0.1:${replication.port}/postgres?sslmode=disable`
  slots[0] = await start('0', null)
  await configure(slots[0])
  slots[1] = await start('1', origin)

  const sql: ServerPair['sql'] = (server, ...statements) =>
    administer(server, portOf(server), 'postgres', statements)
  const pair: ServerPair = {
    primary,
    standby,
    port: (slot) => portOf(slots[slot]),
    primaryPort: () => portOf(primary()),
    replication,
    sql,
    sqlIn: (database, ...statements) => administer(primary(), portOf(primary()), database, statements),
    async promote() {
      await sql(standby(), `SELECT pg_promote(true, ${PROMOTE_SECONDS_MAX})`)
      leading = other()
      // The former primary never follows by the same address: it is ended and made anew.
      replication.cut()
    },
    async rebuildStandby() {
      await standby().end('SIGKILL')
      slots[other()] = await start(String(other()), origin)
      await pair.untilSynchronous()
    },
    async copyAside() {
      const copy = await start('aside', origin)
      await copy.end('SIGKILL')
      return copy
    },
    async promoteCopy(copy) {
      await Promise.all(slots.map((server) => server.end('SIGKILL')))
      await copy.start()
      await sql(copy, `SELECT pg_promote(true, ${PROMOTE_SECONDS_MAX})`)
      slots[leading] = copy
      await pair.rebuildStandby()
    },
    untilSynchronous: () =>
      until('a synchronous standby streams', async () => {
        const question = `SELECT FROM pg_stat_replication WHERE state = 'streaming' AND sync_state IN ('sync', 'quorum')`
        return (await sql(primary(), question)).length > 0
      }),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
  await pair.untilSynchronous()
  const kept = opening.move()
  return pair
}

/** Gives a new primary its settings. Copies inherit them. */
async function configure(server: PostgresServer): Promise<void> {
  const file = join(server.host, 'data', 'postgresql.conf')
  writeFileSync(file, `${readFileSync(file, 'utf8')}\n${REPLICATED}`)
  await server.end('SIGINT')
  await server.start()
}

async function administer(
  server: PostgresServer,
  port: number,
  database: string,
  statements: readonly string[],
): Promise<readonly postgres.Row[]> {
  const sql = postgres({
    host: server.host,
    port,
    database,
    username: 'tester',
    max: 1,
    onnotice: () => undefined,
    connection: { synchronous_commit: 'local' },
  })
  try {
    let rows: readonly postgres.Row[] = []
    for (const statement of statements) rows = await sql.unsafe(statement)
    return rows
  } finally {
    await sql.end({ timeout: 1 })
  }
}
