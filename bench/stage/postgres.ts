import { Client } from 'pg'
import { hasPostgres, startPostgresServer } from '../../test/database/postgres-server.ts'

/** A server on a Unix socket, with one connection. */
type MeasuredPostgres = AsyncDisposable &
  Readonly<{
    client: Client
    /** Directory of the socket. */
    host: string
    /** Process id of the server, which starts one process per connection. */
    pid: number
    /** Process id of the process that serves the connection. */
    backend: number
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
  return {
    client,
    host: server.host,
    pid: server.pid(),
    backend: Number(rows[0]?.pid),
    async [Symbol.asyncDispose]() {
      await client.end()
      await server[Symbol.asyncDispose]()
    },
  }
}
