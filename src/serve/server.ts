/**
 * The public server: the API, the stream, the archive, and the path of every request to its answer. It reads the log
 * and never writes it. It knows no page, no option and no other node. A serving thread is opened in
 * `command/service/front.ts`.
 *
 * Begin with `request/request-path.ts`, the path of a request, and `api/endpoint-answer.ts`, the answers of the API.
 * `fairness` has the turns of callers, `allowance` their limits. `stream` and `export` have the answers that last as
 * long as they are read.
 */

import { createServer, type Server as HttpServer } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'
import { assert } from '../protocol/brand.ts'
import type { ConnectionCount } from './allowance/caller-connections.ts'
import { openRequestPath, type RequestPath, type RequestPathParts } from './request/request-path.ts'
import { ALLOWED_METHODS, CORS_HEADERS, mirrorHeader } from './http/headers.ts'
import { HEADERS_MAX, isTargetTooLong } from './request/request-form.ts'

/** Address and limits of the public listener. Each name ends with its unit. */
export type ServerSettings = Readonly<{
  host: string
  port: number
  /** Whether several threads of the process listen on the same port. */
  reusePort: boolean
  /**
   * Milliseconds before an idle connection is closed. Behind a proxy it is longer than the proxy's own limit, so that
   * the proxy closes first.
   */
  keepAliveMs: number
  connectionsMax: number
  /** Counts the connections of each address; null if nothing is counted. */
  connections: ConnectionCount | null
  /** Grace period in milliseconds for answers in progress at a stop. */
  drainMs: number
  /** Called for each connection that is closed because of the limit. */
  onDrop?: () => void
}>

export const KEEP_ALIVE_MS = 5_000
export const KEEP_ALIVE_BEHIND_PROXY_MS = 65_000
export const CONNECTIONS_MAX = 12_000

const HEADERS_MS = 5_000
const REQUEST_MS = 10_000
const BACKLOG = 2_048
/** Milliseconds between two searches for idle connections while the server stops. */
const SWEEP_MS = 50

/** The public listener. Disposing of it drains it. */
export type Server = AsyncDisposable &
  Readonly<{
    port: number
    /**
     * Stops the listener: accepts no new connections, and answers on open ones until `quiet` settles. Then answers have
     * a grace period of `drainMs` (from the settings by default), and the rest is closed.
     */
    drain(quiet?: Promise<void>, drainMs?: number): Promise<void>
  }>

/** Starts to listen. Resolves when it listens, rejects if it cannot. */
export async function start(settings: ServerSettings, parts: RequestPathParts): Promise<Server> {
  const server = openServer(settings, parts)
  let draining = false
  const path = openRequestPath(server, settings.connections, parts)

  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    parts.metrics.connections.inc()
    socket.once('close', () => {
      sockets.delete(socket)
      parts.metrics.connections.dec()
    })
  })

  const enter: Parameters<HttpServer['on']>[1] = (request, response): void => {
    if (draining) response.setHeader('Connection', 'close')
    path.enter(request, response)
  }
  server.on('request', enter)
  // Without this listener, Node would ask the caller of `Expect: 100-continue` to send its body.
  server.on('checkContinue', enter)
  // Without this one, Node would answer an expectation itself, out of order with other answers of its connection.
  server.on('checkExpectation', enter)
  refuseWhatIsNoRequest(server, parts, path)

  await listen(server, settings)
  const address = server.address()
  assert(address !== null && typeof address === 'object', 'a listening server has an address')

  /** Closes idle connections. Node's own test also counts an answer as finished that is written but not taken. */
  const closeIdle = (): void => {
    for (const socket of sockets)
      if (path.answering(socket) === undefined && socket.writableLength === 0) socket.destroy()
  }
  const drain = async (quiet = Promise.resolve(), drainMs = settings.drainMs): Promise<void> => {
    if (draining) return
    draining = true
    // The HTTP server's own close would cut idle connections before their next request is answered.
    const closed = Promise.withResolvers<void>()
    NetServer.prototype.close.call(server, () => closed.resolve())
    // Includes a connection that Node has detached from the HTTP server because its caller asked for a tunnel.
    const limit = setTimeout(() => {
      for (const socket of sockets) socket.destroy()
    }, drainMs)
    // Callers on open connections learn of the stop from an answer.
    await Promise.race([quiet, closed.promise])
    closeIdle()
    // A connection becomes idle when its last answer from before the stop is taken.
    const sweep = setInterval(closeIdle, SWEEP_MS)
    await closed.promise
    clearInterval(sweep)
    clearTimeout(limit)
    // All connections are closed; this stops the timeout checks of the HTTP server.
    server.close()
  }
  return { port: address.port, drain, [Symbol.asyncDispose]: () => drain() }
}

function openServer(settings: ServerSettings, { metrics }: RequestPathParts): HttpServer {
  const server = createServer({
    headersTimeout: HEADERS_MS,
    requestTimeout: REQUEST_MS,
    connectionsCheckingInterval: 1_000,
    keepAliveTimeout: settings.keepAliveMs,
    keepAlive: true,
    keepAliveInitialDelay: 30_000,
    noDelay: true,
    maxHeaderSize: 8_192,
    insecureHTTPParser: false,
    joinDuplicateHeaders: false,
    // Checked in `request/request-form.ts`, where the answer has the common headers.
    requireHostHeader: false,
    rejectNonStandardBodyWrites: true,
    highWaterMark: 16_384,
  })
  // No idle timeout, because it would cut silent streams. Answers and streams have their own limits.
  server.timeout = 0
  server.maxHeadersCount = HEADERS_MAX
  // The queue of a connection counts instead, so that the last answer is complete.
  server.maxRequestsPerSocket = 0
  server.maxConnections = settings.connectionsMax
  server.on('drop', () => {
    metrics.connectionsDropped.inc()
    settings.onDrop?.()
  })
  return server
}

async function listen(server: HttpServer, { host, port, reusePort }: ServerSettings): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port, reusePort, backlog: BACKLOG }, () => {
      server.off('error', reject)
      resolve()
    })
  })
}

/** Answers input that never becomes a request: broken syntax, timeouts, tunnels. */
function refuseWhatIsNoRequest(
  server: HttpServer,
  { metrics, mirrorOf }: RequestPathParts,
  { end: endAfterAnswers, isPastTarget }: Pick<RequestPath, 'end' | 'isPastTarget'>,
): void {
  const common = { ...CORS_HEADERS, ...mirrorHeader(mirrorOf) }
  const broken = new WeakSet<Socket>()
  server.on('clientError', (error: ParseError, socket: Socket) => {
    // The parser reports broken syntax again with every further byte.
    if (broken.has(socket)) return
    broken.add(socket)
    const { status, reason } = failureOf(error, isPastTarget(socket))
    metrics.clientErrors.inc({ reason })
    // Earlier requests of the connection still get complete answers.
    if (endAfterAnswers(socket)) return
    // Silence gets no answer.
    if (!socket.writable || socket.bytesRead === 0) {
      socket.destroySoon()
      return
    }
    refuse(socket, status, common)
  })
  server.on('connect', (_, socket: Socket) => {
    socket.on('error', () => socket.destroy())
    if (!endAfterAnswers(socket))
      refuse(socket, '405 Method Not Allowed', { ...common, Allow: ALLOWED_METHODS })
  })
}

/** Error of the HTTP parser about an unreadable request. */
type ParseError = NodeJS.ErrnoException & Readonly<{ rawPacket?: Uint8Array; bytesParsed?: number }>

type Failure = Readonly<{ status: string; reason: 'syntax' | 'target' | 'headers' | 'timeout' }>

const FAILURES: ReadonlyMap<string, Failure> = new Map<string, Failure>([
  ['HPE_HEADER_OVERFLOW', { status: '431 Request Header Fields Too Large', reason: 'headers' }],
  ['ERR_HTTP_REQUEST_TIMEOUT', { status: '408 Request Timeout', reason: 'timeout' }],
])

function failureOf({ code = '', rawPacket, bytesParsed = 0 }: ParseError, pastTarget: boolean): Failure {
  if (code === 'HPE_HEADER_OVERFLOW' && isTargetTooLong(rawPacket, bytesParsed, pastTarget)) {
    return { status: '414 URI Too Long', reason: 'target' }
  }
  return FAILURES.get(code) ?? { status: '400 Bad Request', reason: 'syntax' }
}

function refuse(socket: Socket, status: string, headers: Readonly<Record<string, string>>): void {
  const lines = Object.entries({
    ...headers,
    'Cache-Control': 'no-store',
    'Content-Length': '0',
    Connection: 'close',
  }).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(`HTTP/1.1 ${status}\r\n${lines.join('')}\r\n`)
  socket.destroySoon()
}
