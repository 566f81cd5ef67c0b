import type { SpawnOptions } from 'node:child_process'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import postgres from 'postgres'

const BINARIES = '/usr/lib/postgresql/15/bin'
const WAIT_MS = 10_000
const LOOK_MS = 50
/** Milliseconds of Linux's tick for processor time. */
const TICK_MS = 10

/** A server on a Unix socket, with one connection. */
type PostgresServer = AsyncDisposable &
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
 */
export async function startPostgres(
  directory: string,
  settings: readonly string[],
): Promise<PostgresServer | undefined> {
  if (!existsSync(join(BINARIES, 'postgres'))) return undefined
  const home = join(directory, 'postgres')
  const as = ordinaryUser()
  mkdirSync(home)
  chmodSync(directory, 0o755)
  if (as.uid !== undefined && as.gid !== undefined) chownSync(home, as.uid, as.gid)
  const options = { ...as, cwd: home, stdio: 'ignore' } as const
  const flags = ['-D', join(home, 'data'), '-U', 'bench', '-A', 'trust', '--no-sync']
  if (spawnSync(join(BINARIES, 'initdb'), flags, options).status !== 0) throw new Error('initdb failed')
  const server = spawn(
    join(BINARIES, 'postgres'),
    ['-D', join(home, 'data'), '-k', home, ...SETTINGS, ...settings.flatMap((setting) => ['-c', setting])],
    options,
  )
  const sql = postgres({
    host: home,
    database: 'postgres',
    username: 'bench',
    max: 1,
    onnotice: () => undefined,
  })
  const backend = await backendOf(sql)
  const { pid } = server
  if (pid === undefined) throw new Error('a process that answers has an id')
  return {
    sql,
    host: home,
    pid,
    cpuMs() {
      const fields = readFileSync(`/proc/${backend}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
      return (Number(fields[11]) + Number(fields[12])) * TICK_MS
    },
    async [Symbol.asyncDispose]() {
      await sql.end({ timeout: 1 })
      server.kill('SIGINT')
      if (server.exitCode === null && server.signalCode === null) await once(server, 'exit')
    },
  }
}

/** Socket only, and tuned for speed: its data is thrown away. */
const SETTINGS = ['-c', 'listen_addresses=', '-c', 'fsync=off']

/** Process id behind the connection, once the server accepts one. */
async function backendOf(sql: postgres.Sql): Promise<number> {
  const endMs = performance.now() + WAIT_MS
  for (;;) {
    try {
      const [row] = await sql`SELECT pg_backend_pid() AS pid`
      return Number(row?.['pid'])
    } catch (error) {
      if (performance.now() > endMs) throw error
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
    }
  }
}

/** PostgreSQL refuses to run as root. */
function ordinaryUser(): Pick<SpawnOptions, 'uid' | 'gid'> {
  if (process.getuid?.() !== 0) return {}
  const [uid, gid] = ['-u', '-g'].map((flag) => Number(spawnSync('id', [flag, 'nobody']).stdout.toString()))
  return uid === undefined || gid === undefined ? {} : { uid, gid }
}
