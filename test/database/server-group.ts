import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type PostgresServer, startPostgresServer } from './postgres-server.ts'
import { administer } from './administer.ts'

const PROMOTE_SECONDS_MAX = 30
const SETTINGS = ['wal_keep_size=64MB', 'wal_retrieve_retry_interval=100ms']
const SYNCHRONOUS = `SELECT FROM pg_stat_replication WHERE state = 'streaming' AND sync_state IN ('sync', 'quorum')`

/** Servers in one folder, some of them copies of others. Disposal kills them all. */
type ServerGroup = AsyncDisposable &
  Readonly<{
    /** Starts a server named `daybook_<name>`: a standby of the server at an address, or an empty cluster. */
    start(name: string, port: number, standbyOf: string | null): Promise<PostgresServer>
  }>

/** Prepares a folder for servers that have these settings. */
export function openServerGroup(folder: string, settings: readonly string[] = []): ServerGroup {
  // The servers run as another user, who must get at their folders.
  chmodSync(folder, 0o755)
  const servers: PostgresServer[] = []
  let begun = 0
  return {
    async start(name, port, standbyOf) {
      const own = join(folder, `postgres-${begun}`)
      begun += 1
      mkdirSync(own)
      const all = [`cluster_name=daybook_${name}`, ...SETTINGS, ...settings]
      const server = await startPostgresServer(own, { port, standbyOf, settings: all })
      servers.push(server)
      return server
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(servers.map((server) => server.end('SIGKILL')))
    },
  }
}

/** Adds settings to the file of a server, whose later copies inherit them, and restarts it. */
export async function configureServer(server: PostgresServer, settings: string): Promise<void> {
  const file = join(server.host, 'data', 'postgresql.conf')
  writeFileSync(file, `${readFileSync(file, 'utf8')}\n${settings}`)
  await server.end('SIGINT')
  await server.start()
}

/** Makes a standby a primary. */
export async function promoteServer(standby: PostgresServer): Promise<void> {
  await administer(standby, 'postgres', `SELECT pg_promote(true, ${PROMOTE_SECONDS_MAX})`)
}

/** Whether a synchronous standby streams from a primary. */
export async function hasSynchronousStandby(primary: PostgresServer): Promise<boolean> {
  return (await administer(primary, 'postgres', SYNCHRONOUS)).length > 0
}
