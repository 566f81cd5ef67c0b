import type { SpawnOptions } from 'node:child_process'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import postgres from 'postgres'

const BINARIES = '/usr/lib/postgresql/15/bin'
const WAIT_MS = 10_000
const LOOK_MS = 50
/** Milliseconds of a tick in which Linux counts processor time. */
const TICK_MS = 10

/** A server on a Unix socket, with one connection. */
export type PostgresServer = AsyncDisposable &
  Readonly<{
    sql: postgres.Sql
    /** Processor time of the process that answers the connection, in ms. */
    cpuMs(): number
  }>

/** Starts PostgreSQL on an empty directory of its own under `directory`; undefined where it is not installed. */
export async function startPostgres(directory: string): Promise<PostgresServer | undefined> {
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
    ['-D', join(home, 'data'), '-k', home, ...SETTINGS],
    options,
  )
  const sql = postgres({
    host: home,
    database: 'postgres',
    username: 'bench',
    max: 1,
    onnotice: () => undefined,
  })
  const pid = await backendOf(sql)
  return {
    sql,
    cpuMs() {
      const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
      return (Number(fields[11]) + Number(fields[12])) * TICK_MS
    },
    async [Symbol.asyncDispose]() {
      await sql.end({ timeout: 1 })
      server.kill('SIGINT')
      if (server.exitCode === null && server.signalCode === null) await once(server, 'exit')
    },
  }
}

/** All in one process, so that its processor time is that of the answer; more would take more of it in all. */
const SETTINGS = [
  'listen_addresses=',
  'fsync=off',
  'shared_buffers=1GB',
  'work_mem=64MB',
  'max_parallel_workers_per_gather=0',
  'jit=off',
  'max_wal_size=8GB',
].flatMap((setting) => ['-c', setting])

/** The process behind the connection, once the server is there. */
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
