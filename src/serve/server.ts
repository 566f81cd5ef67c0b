import { createServer } from 'node:http'
import type { Server as HttpServer } from 'node:http'
import type { Socket } from 'node:net'
import { assert } from '../protocol/brand.ts'
import type { ConnectionCount } from './allowance/caller-connections.ts'
import type { RequestPathParts } from './exchange/request-path.ts'
import { openRequestPath } from './exchange/request-path.ts'
import { ALLOWED_METHODS, CORS_HEADERS } from './http/headers.ts'
import { isTargetTooLong } from './http/overflow.ts'
import { HEADERS_MAX } from './http/request-form.ts'
import { drainServer } from './server-drain.ts'

/** Where and how the public listener listens. Every number of it is a limit, in the unit of its name. */
export type ServerSettings = Readonly<{
  host: string
  port: number
  /** Several threads of one process listen on the same port. */
  reusePort: boolean
  /** How long an idle connection is kept: behind a proxy longer than the proxy keeps it, so that it closes. */
  keepAliveMs: number
  connectionsMax: number
  /** Counts the connections of each address; null where nothing is counted. */
  connections: ConnectionCount | null
  /** What is still being answered when it stops is given this long. */
  drainMs: number
  /** Told of each connection that is closed because as many as allowed are open. */
  onDrop?: () => void
}>

export const KEEP_ALIVE_MS = 5_000
export const KEEP_ALIVE_BEHIND_PROXY_MS = 65_000
export const CONNECTIONS_MAX = 12_000

const HEADERS_MS = 5_000
const REQUEST_MS = 10_000
const BACKLOG = 2_048

/** The public listener. Disposing of it drains it. */
export type Server = AsyncDisposable &
  Readonly<{
    port: number
    /**
     * Accepts no more, answers on the connections that are open until `quiet` settles, lets answers end for `drainMs`
     * at most, then closes what is left.
     */
    drain(quiet?: Promise<void>): Promise<void>
  }>

/** Starts to listen; settles when it does, throws when it cannot. */
export async function start(settings: ServerSettings, parts: RequestPathParts): Promise<Server> {
  const server = openServer(settings, parts)
  let draining = false
  const path = openRequestPath(server, settings.connections, parts)

  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })

  const enter: Parameters<HttpServer['on']>[1] = (request, response): void => {
    if (draining) response.setHeader('Connection', 'close')
    path.enter(request, response)
  }
  server.on('request', enter)
  // Without this, `Expect: 100-continue` would be told to go on and send its body.
  server.on('checkContinue', enter)
  refuseWhatIsNoRequest(server, parts, path.end)

  await listen(server, settings)
  const address = server.address()
  assert(address !== null && typeof address === 'object', 'a listening server has an address')

  /** Closes connections with nothing to answer. Node takes an answer for done that was written and not yet taken. */
  const closeIdle = (): void => {
    for (const socket of sockets) {
      if (path.answering(socket) === undefined && socket.writableLength === 0) socket.destroy()
    }
  }
  const drain = async (quiet = Promise.resolve()): Promise<void> => {
    if (draining) return
    draining = true
    await drainServer(server, settings.drainMs, quiet, closeIdle)
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
    // The same check is made where the answer can carry the common headers.
    requireHostHeader: false,
    rejectNonStandardBodyWrites: true,
    highWaterMark: 16_384,
  })
  // No idle timeout: it would cut quiet streams. Answers and streams have limits of their own.
  server.timeout = 0
  server.maxHeadersCount = HEADERS_MAX
  // Counted by the lanes, whose last answer has headers and a body like any other.
  server.maxRequestsPerSocket = 0
  server.maxConnections = settings.connectionsMax
  server.on('connection', (socket: Socket) => {
    metrics.connections.inc()
    socket.once('close', () => metrics.connections.dec())
  })
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

/** Answers what never becomes a request: broken syntax, silence, tunnels, expectations. */
function refuseWhatIsNoRequest(
  server: HttpServer,
  { metrics }: RequestPathParts,
  /** Closes a connection after the answers that it has asked for; false where it has asked for none. */
  endAfterAnswers: (socket: Socket) => boolean,
): void {
  server.on('clientError', (error: ParseError, socket: Socket) => {
    const { status, reason } = failureOf(error)
    metrics.clientErrors.inc({ reason })
    // What came before on this connection still gets its own answers, and nothing is written into them.
    if (endAfterAnswers(socket)) return
    // Silence gets no answer.
    if (!socket.writable || socket.bytesRead === 0) {
      socket.destroySoon()
      return
    }
    refuse(socket, status)
  })
  server.on('connect', (_, socket: Socket) => {
    socket.on('error', () => socket.destroy())
    if (!endAfterAnswers(socket)) refuse(socket, '405 Method Not Allowed', { Allow: ALLOWED_METHODS })
  })
  server.on('checkExpectation', (_, response) => {
    response.writeHead(417, { ...CORS_HEADERS, Connection: 'close', 'Content-Length': 0 }).end()
  })
}

/** What the parser says of a request that it cannot read. */
type ParseError = NodeJS.ErrnoException & Readonly<{ rawPacket?: Uint8Array; bytesParsed?: number }>

type Failure = Readonly<{ status: string; reason: 'syntax' | 'target' | 'headers' | 'timeout' }>

const FAILURES: ReadonlyMap<string, Failure> = new Map<string, Failure>([
  ['HPE_HEADER_OVERFLOW', { status: '431 Request Header Fields Too Large', reason: 'headers' }],
  ['ERR_HTTP_REQUEST_TIMEOUT', { status: '408 Request Timeout', reason: 'timeout' }],
])

function failureOf({ code = '', rawPacket, bytesParsed = 0 }: ParseError): Failure {
  if (code === 'HPE_HEADER_OVERFLOW' && isTargetTooLong(rawPacket, bytesParsed)) {
    return { status: '414 URI Too Long', reason: 'target' }
  }
  return FAILURES.get(code) ?? { status: '400 Bad Request', reason: 'syntax' }
}

function refuse(socket: Socket, status: string, headers: Readonly<Record<string, string>> = {}): void {
  const lines = Object.entries({
    ...CORS_HEADERS,
    ...headers,
    'Cache-Control': 'no-store',
    'Content-Length': '0',
    Connection: 'close',
  }).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(`HTTP/1.1 ${status}\r\n${lines.join('')}\r\n`)
  socket.destroySoon()
}
