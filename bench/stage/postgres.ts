import { readFileSync } from 'node:fs'
import { Client } from 'pg'
import { hasPostgres, startPostgresServer } from '../../test/outbox/postgres-server.ts'

/** Milliseconds of Linux's tick for processor time. */
const TICK_MS = 10

/** A server on a Unix socket, with one connection. */
type MeasuredPostgres = AsyncDisposable &
  Readonly<{
    client: Client
    /** Directory of the socket. */
    host: string
    /** Process id of the server, which starts one process per connection. */
    pid: number
    /** Processor time of the process that serves the connection, in ms. */
    cpuMs(): number
  }>

/**
 * Starts PostgreSQL on a new directory under `directory`, with settings such as `jit=off`; undefined if not installed.
 * It is tuned for speed: its data is thrown away.
 */
export async function startPostgres(
  directory: string,
  settings: readonly string[],
): Promise<MeasuredPostgres | undefined> {
  if (!hasPostgres) return undefined
  const server = await startPostgresServer(directory, { settings: ['fsync=off', ...settings] })
  const client = new Client({ connectionString: server.url() })
  // The question that fails tells of it too.
  client.on('error', () => undefined)
  await client.connect()
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
  const backend = Number(rows[0]?.pid)
  return {
    client,
    host: server.host,
    pid: server.pid(),
    cpuMs() {
      const fields = readFileSync(`/proc/${backend}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
      return (Number(fields[11]) + Number(fields[12])) * TICK_MS
    },
    async [Symbol.asyncDispose]() {
      await client.end()
      await server[Symbol.asyncDispose]()
    },
  }
}
