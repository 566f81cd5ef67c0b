import { once } from 'node:events'
import type { Socket } from 'node:net'
import { connect, isIP } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { DatabaseTarget } from './database-target.ts'

/** The servers as the client understood them, with the defaults of the environment. */
export type ChosenServers = Readonly<{
  host: readonly string[]
  port: readonly number[]
  path: string | false
}>

/** A connected socket, and the host that it leads to; empty for a Unix socket. */
export type OpenedSocket = Readonly<{ socket: Socket; host: string }>

/** SSLRequest of the protocol of PostgreSQL: its length, and the code that no version has. */
const TLS_REQUEST: Uint8Array = Uint8Array.from([0, 0, 0, 8, 4, 210, 22, 47])
/** Answer `S`: the server goes on with TLS. */
const TLS_ACCEPTED = 83

/** Connects to the first of the servers that takes a connection in time. Throws the error of the last. */
export async function openSocket({ host, port, path }: ChosenServers, ms: number): Promise<OpenedSocket> {
  if (path !== false) return connected(connect(path), '', ms)
  let last: unknown
  for (const [index, one] of host.entries()) {
    try {
      return await connected(
        connect({ port: port[index] ?? port[0] ?? 0, host: one, noDelay: true }),
        one,
        ms,
      )
    } catch (error) {
      last = error
    }
  }
  throw last
}

async function connected(socket: Socket, host: string, ms: number): Promise<OpenedSocket> {
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(ms) })
    return { socket, host }
  } catch (error) {
    socket.destroy()
    throw error
  }
}

/**
 * Asks a server for TLS, and returns the socket that is secured. `prefer` returns the same socket when the server has no
 * TLS. The client would do this too, but its socket cannot be reached then: closing the one below it fails a write that
 * waits, after the client has stopped to listen for errors, and such an error ends the process.
 */
export async function secureSocket(
  { socket, host }: OpenedSocket,
  tls: Exclude<DatabaseTarget['tls'], false>,
  ms: number,
): Promise<Socket> {
  const limit = AbortSignal.timeout(ms)
  socket.write(TLS_REQUEST)
  // A closed connection is readable too, and then has nothing to read.
  await once(socket, 'readable', { signal: limit })
  const answer: unknown = socket.read()
  if (!(answer instanceof Uint8Array)) throw failure('the connection was closed', 'ECLOSED')
  // Bytes behind the answer came from somebody between this process and the server.
  if (answer.length !== 1) throw new Error('the server sent more than its answer about TLS')
  if (answer[0] !== TLS_ACCEPTED) {
    if (tls === 'prefer') return socket
    throw failure('the server has no TLS', 'ENOTLS')
  }
  const secured = connectTls({
    ...(tls === 'prefer' ? { rejectUnauthorized: false } : tls),
    socket,
    // Without a host, the certificate of a server at an IP address would be checked for `localhost`.
    host,
    ...(isIP(host) === 0 ? { servername: host } : {}),
  })
  // An error after the limit would find no listener.
  secured.on('error', () => undefined)
  await once(secured, 'secureConnect', { signal: limit })
  return secured
}

/** An error that passes: another attempt may meet another server. */
function failure(message: string, code: string): Error {
  return Object.assign(new Error(message), { code })
}
