import { type ChildProcess, execFile, type SpawnOptions, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, existsSync, globSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { administer } from './administer.ts'
import { POSTGRES_PROGRAMS } from '../processes/test-needs.ts'
import { spawnTied } from '../processes/other-program.ts'

const WAIT_MS = 30_000
const LOOK_MS = 20
const PORT_DEFAULT = 5_432

/** Folder of the newest PostgreSQL that Debian has installed; its programs are not in PATH. */
const [PROGRAMS = ''] = globSync(POSTGRES_PROGRAMS).toSorted().toReversed()

/** Whether a server can be started here. */
export const hasPostgres: boolean = existsSync(join(PROGRAMS, 'initdb'))

/** A cluster of PostgreSQL in a folder of its own, on a Unix socket, with fsync. It outlives its processes. */
export type PostgresServer = AsyncDisposable &
  Readonly<{
    /** Address of a database, for the user of the tests, who may do everything. */
    url(database?: string): string
    /** Directory of the socket. Its folder `data` has the cluster. */
    host: string
    /** Port on the loopback, if it has one, and of the socket. */
    port: number
    /** Process id of the running server. */
    pid(): number
    /** Starts the server, and waits until it takes connections. */
    start(): Promise<void>
    /** Ends the server with a signal: SIGKILL kills all its processes and is a crash, SIGINT is a fast stop. */
    end(signal: 'SIGKILL' | 'SIGINT'): Promise<void>
    /** Sends a signal to the server and its processes: SIGSTOP pauses them all, SIGCONT lets them go on. */
    signal(signal: 'SIGSTOP' | 'SIGCONT'): void
    /** Runs a program of PostgreSQL, such as pg_dump, with the input; returns its output. */
    run(program: string, words: readonly string[], input?: string): string
  }>

type ServerOptions = Readonly<{
  /** Port on the loopback, and of the socket; null for the socket only. */
  port?: number | null
  /** Settings beside those of a small server, such as `fsync=off`. */
  settings?: readonly string[]
  /** Address of a server to copy, as its standby; null makes an empty cluster. */
  standbyOf?: string | null
}>

/** Makes a cluster in `folder/postgres`, and starts it. */
export async function startPostgresServer(
  folder: string,
  { port: given = null, settings = [], standbyOf = null }: ServerOptions = {},
): Promise<PostgresServer> {
  const home = join(folder, 'postgres')
  const as = ordinaryUser()
  mkdirSync(home)
  // The server runs as another user, who must get at its folder.
  chmodSync(folder, 0o755)
  if (as.uid !== undefined && as.gid !== undefined) chownSync(home, as.uid, as.gid)
  const run: PostgresServer['run'] = (program, words, input = '') => {
    const options = { ...as, cwd: home, input, encoding: 'utf8', maxBuffer: 256 * 1024 * 1024 } as const
    const { status, stdout, stderr } = spawnSync(join(PROGRAMS, program), words, options)
    if (status !== 0) throw new Error(`${program} ended with ${status}: ${stderr}`)
    return stdout
  }
  const data = join(home, 'data')
  const [program, ...words] =
    standbyOf === null
      ? ['initdb', '-U', 'tester', '-A', 'trust', '-E', 'UTF8', '--locale=C']
      : ['pg_basebackup', '-d', standbyOf, '-R', '-X', 'stream', '-c', 'fast']
  await promisify(execFile)(join(PROGRAMS, program ?? ''), ['-D', data, '--no-sync', ...words], {
    ...as,
    cwd: home,
  })
  let child: ChildProcess | null = null
  const port = given ?? PORT_DEFAULT
  const address = given === null ? '' : '127.0.0.1'
  const listening = [`listen_addresses=${address}`, `port=${port}`]
  const flags = [...SETTINGS, ...listening, ...settings].flatMap((setting) => ['-c', setting])
  const url = (database = 'postgres'): string =>
    `postgres://tester@/${database}?host=${encodeURIComponent(home)}&port=${port}&sslmode=disable`
  const server: PostgresServer = {
    url,
    host: home,
    port,
    run,
    pid() {
      if (child?.pid === undefined) throw new Error('PostgreSQL does not run')
      return child.pid
    },
    async start() {
      const endMs = performance.now() + WAIT_MS
      for (;;) {
        child ??= spawnTied(join(PROGRAMS, 'postgres'), ['-D', data, '-k', home, ...flags], {
          ...as,
          cwd: home,
          stdio: 'ignore',
        })
        if (await answers(server)) return
        // A crashed server is refused a start while its processes still end.
        if (child.exitCode !== null || child.signalCode !== null) child = null
        if (performance.now() > endMs) throw new Error('PostgreSQL does not start')
        await sleep(LOOK_MS)
      }
    },
    async end(signal) {
      const ending = child
      child = null
      if (ending === null || ending.exitCode !== null || ending.signalCode !== null) return
      const ended = once(ending, 'exit')
      // A paused server cannot end.
      signalAll(ending, 'SIGCONT')
      if (signal === 'SIGKILL') signalAll(ending, signal)
      else ending.kill(signal)
      await ended
    },
    signal(signal) {
      if (child !== null) signalAll(child, signal)
    },
    [Symbol.asyncDispose]: () => server.end('SIGINT'),
  }
  await server.start()
  return server
}

/**
 * Settings of a small server. Memory that its processes share is in files of its folder: a killed server would leave it in
 * /dev/shm otherwise.
 */
const SETTINGS = ['shared_buffers=16MB', 'max_connections=60', 'dynamic_shared_memory_type=mmap']

/** Signals a server and its processes, the server first, so that it starts no other one. */
function signalAll({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return
  const children = `/proc/${pid}/task/${pid}/children`
  if (signal === 'SIGKILL') process.kill(pid, 'SIGSTOP')
  else process.kill(pid, signal)
  for (const one of existsSync(children) ? readFileSync(children, 'utf8').split(' ') : []) {
    if (one.trim() !== '') tryKill(Number(one), signal)
  }
  if (signal === 'SIGKILL') tryKill(pid, signal)
}

/** A process may have ended in the meantime. */
function tryKill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    return
  }
}

async function answers(server: PostgresServer): Promise<boolean> {
  try {
    await administer(server, 'postgres', 'SELECT 1')
    return true
  } catch {
    return false
  }
}

/** PostgreSQL refuses to run as root. */
function ordinaryUser(): Pick<SpawnOptions, 'uid' | 'gid'> {
  if (process.getuid?.() !== 0) return {}
  const [uid, gid] = ['-u', '-g'].map((flag) => Number(spawnSync('id', [flag, 'nobody']).stdout.toString()))
  return uid === undefined || gid === undefined ? {} : { uid, gid }
}
