import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { freePort } from '../../processes/free-ports.ts'
import { endProgram, spawnTied, until } from '../../processes/other-program.ts'
import { pathOf } from '../../processes/test-needs.ts'

const PROGRAM = 'pgbouncer'
/** Connections to the server for all clients: few, so that nodes meet in one session. */
const SESSIONS = 4

/** A pooler that gives each transaction a session of its choice. */
type Pooler = AsyncDisposable & Readonly<{ port: number }>

/** Whether this machine has pgbouncer. */
export const hasPooler: boolean = pathOf(PROGRAM) !== undefined

/** Starts a transaction pooler before a server of the loopback. */
export async function startPooler(folder: string, serverPort: number, role: string): Promise<Pooler> {
  const home = join(folder, 'pooler')
  mkdirSync(home, { recursive: true })
  const port = await freePort()
  const users = join(home, 'users')
  const file = join(home, 'pgbouncer.ini')
  writeFileSync(users, `"${role}" ""\n`)
  writeFileSync(
    file,
    `[databases]
* = host=127.0.0.1 port=${serverPort}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${users}
pool_mode = transaction
default_pool_size = ${SESSIONS}
ignore_startup_parameters = extra_float_digits,options,idle_session_timeout,idle_in_transaction_session_timeout,client_min_messages,synchronous_commit,statement_timeout,lock_timeout,search_path,tcp_keepalives_idle,tcp_keepalives_interval,tcp_keepalives_count
`,
  )
  // It refuses to run as root.
  const ids = process.getuid?.() === 0 ? ['-u', '-g'].map((flag) => Number(idOf(flag))) : []
  const [uid, gid] = ids
  for (const path of [home, users, file]) {
    chmodSync(path, path === home ? 0o755 : 0o644)
    if (uid !== undefined && gid !== undefined) chownSync(path, uid, gid)
  }
  const as = uid !== undefined && gid !== undefined ? { uid, gid } : {}
  const child = spawnTied(PROGRAM, [file], { stdio: 'ignore', ...as })
  await until('the pooler takes connections', async () => {
    const socket = connect({ port, host: '127.0.0.1' })
    await once(socket, 'connect')
    socket.destroy()
    return true
  })
  return { port, [Symbol.asyncDispose]: () => endProgram(child, 'SIGKILL') }
}

const idOf = (flag: string): string => spawnSync('id', [flag, 'nobody']).stdout.toString()
