import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import postgres from 'postgres'
import type { PostgresServer } from '../outbox/postgres-server.ts'
import { startPostgresServer } from '../outbox/postgres-server.ts'
import { freePort } from '../processes/free-ports.ts'

const WAIT_MS = 60_000
const LOOK_MS = 10
const CONFIGURATION = new URL('../../ops/postgres/daybook.conf', import.meta.url)
/** Role of the nodes. */
const ROLE = 'daybook'

/** A primary and a synchronous standby on the loopback, with the settings of ops/postgres. */
export type PostgresRig = AsyncDisposable &
  Readonly<{
    folder: string
    primary(): PostgresServer
    standby(): PostgresServer
    /** Address of both servers for a role. */
    url(role?: string): string
    /** Runs statements on a server as an administrator, without waiting for a standby. Returns the rows of the last. */
    sql(server: PostgresServer, ...statements: readonly string[]): Promise<readonly postgres.Row[]>
    /** Kills the primary and makes the standby the primary. The old primary stays dead. */
    failOver(): Promise<void>
    /** Replaces the dead server by a new standby of the primary. */
    rebuildStandby(): Promise<void>
    /** Starts the dead former primary again, as it is: a fork. */
    startFork(): Promise<PostgresServer>
    /** Makes a further standby that nobody waits for, and kills it: it lacks what is committed from now on. */
    copyAside(): Promise<void>
    /** Kills both servers, makes the newest copy the primary, and gives it a new standby. The copy's port is another. */
    promoteCopy(): Promise<void>
    /** Waits until the standby is synchronous. */
    untilSynchronous(): Promise<void>
  }>

export async function openPostgresRig(): Promise<PostgresRig> {
  const folder = mkdtempSync(join(tmpdir(), 'daybook-engine-'))
  // The servers run as another user, who must get at their folders.
  chmodSync(folder, 0o755)
  const ports = [await freePort(), await freePort()] as const
  let servers = 0
  /** Starts a server with an empty cluster or a copy. */
  const startAt = async (port: number, name: string, standbyOf: string | null): Promise<PostgresServer> => {
    servers += 1
    const own = join(folder, String(servers))
    mkdirSync(own)
    const quick = ['wal_keep_size=64MB', 'wal_retrieve_retry_interval=100ms']
    const settings = [`cluster_name=daybook_${name}`, ...quick]
    const server = await startPostgresServer(own, { port, standbyOf, settings })
    all.push(server)
    return server
  }
  const start = (at: 0 | 1, standbyOf: string | null): Promise<PostgresServer> =>
    startAt(ports[at], at === 0 ? 'a' : 'b', standbyOf)
  const all: PostgresServer[] = []
  let index: 0 | 1 = 0
  let primary = await start(0, null)
  await configure(primary)
  let standby = await start(1, primary.url())
  let aside = standby
  const url = (role = ROLE): string =>
    `postgres://${role}@${ports.map((port) => `127.0.0.1:${port}`).join(',')}/postgres?sslmode=disable`
  const rig: PostgresRig = {
    folder,
    primary: () => primary,
    standby: () => standby,
    url,
    sql: administer,
    async failOver() {
      await primary.end('SIGKILL')
      await administer(standby, 'SELECT pg_promote(true, 30)')
      ;[primary, standby] = [standby, primary]
      index = index === 0 ? 1 : 0
    },
    async rebuildStandby() {
      await standby.end('SIGKILL')
      standby = await start(index === 0 ? 1 : 0, primary.url())
      await rig.untilSynchronous()
    },
    async copyAside() {
      aside = await startAt(await freePort(), 'aside', primary.url())
      await aside.end('SIGKILL')
    },
    async promoteCopy() {
      await Promise.all([primary.end('SIGKILL'), standby.end('SIGKILL')])
      await aside.start()
      await administer(aside, 'SELECT pg_promote(true, 30)')
      primary = aside
      await rig.rebuildStandby()
    },
    async startFork() {
      await standby.start()
      return standby
    },
    async untilSynchronous() {
      const question = `SELECT FROM pg_stat_replication WHERE state = 'streaming' AND sync_state IN ('sync', 'quorum')`
      await until(async () => (await administer(primary, question)).length > 0)
    },
    async [Symbol.asyncDispose]() {
      for (const server of all) await server.end('SIGKILL')
      rmSync(folder, { recursive: true, force: true })
    },
  }
  await rig.untilSynchronous()
  return rig
}

/** Gives a new primary the settings of ops/postgres. Its copies inherit them. */
async function configure(server: PostgresServer): Promise<void> {
  const file = join(server.host, 'data', 'postgresql.conf')
  writeFileSync(file, `${readFileSync(file, 'utf8')}\n${readFileSync(CONFIGURATION, 'utf8')}`)
  await server.end('SIGINT')
  await server.start()
}

/** Port of a server, on the loopback and of its socket. */
export function portOf(server: PostgresServer): number {
  return Number(/&port=(\d+)/.exec(server.url())?.[1])
}

async function administer(
  server: PostgresServer,
  ...statements: readonly string[]
): Promise<readonly postgres.Row[]> {
  const sql = postgres({
    host: server.host,
    port: portOf(server),
    database: 'postgres',
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

async function until(holds: () => Promise<boolean>): Promise<void> {
  const endMs = performance.now() + WAIT_MS
  while (!(await holds())) {
    if (performance.now() > endMs) throw new Error('the servers do not come to the expected state')
    await sleep(LOOK_MS)
  }
}
