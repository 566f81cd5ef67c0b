import { readFileSync } from 'node:fs'
import postgres from 'postgres'
import { hasPostgres, startPostgresServer } from '../../test/outbox/postgres-server.ts'

/** Milliseconds of Linux's tick for processor time. */
const TICK_MS = 10

/** A server on a Unix socket, with one connection. */
type MeasuredPostgres = AsyncDisposable &
  Readonly<{
    sql: postgres.Sql
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
  const sql = postgres({
    host: server.host,
    database: 'postgres',
    username: 'tester',
    max: 1,
    onnotice: () => undefined,
  })
  const [row] = await sql`SELECT pg_backend_pid() AS pid`
  const backend = Number(row?.['pid'])
  return {
    sql,
    host: server.host,
    pid: server.pid(),
    cpuMs() {
      const fields = readFileSync(`/proc/${backend}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
      return (Number(fields[11]) + Number(fields[12])) * TICK_MS
    },
    async [Symbol.asyncDispose]() {
      await sql.end({ timeout: 1 })
      await server[Symbol.asyncDispose]()
    },
  }
}
