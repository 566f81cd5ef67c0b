import { connect } from 'node:net'
import type { IncomingMessage } from 'node:http'
import { type ApiStage, openApiStage } from '../../stage/api-stage.ts'
import { type Proxy, startOwnNginx } from '../../ops/proxy-stage.ts'

/** A request line as a parser read it. */
export type Reading = Readonly<{ method: string; target: string }>

/** Bytes that a connection got, and its end. */
type Received = Readonly<{
  bytes: Buffer
  readings: readonly Reading[]
  closedMs: number
  late: boolean
}>

/** The service alone, and nginx in front of it. */
export type RawPair = AsyncDisposable &
  Readonly<{
    stage: ApiStage
    /** Sends bytes to the service, and tells what it read. */
    toService(bytes: Buffer): Promise<Received>
    /** Sends bytes to nginx, and tells what nginx read and what the service read behind it. */
    toNginx(bytes: Buffer): Promise<Received & Readonly<{ behind: readonly Reading[] }>>
  }>

/** Seconds that nginx waits for the rest of a request. */
const NGINX_SECONDS = 2
/** Time after which a server must have closed: the service allows 5 s for headers, and looks each second. */
const CLOSED_MS_MAX = 20_000

export async function openRawPair(): Promise<RawPair> {
  const direct = new Map<string, Reading[]>()
  const behind = new Map<string, { nginx: Reading; service: Reading }[]>()
  const note = (request: IncomingMessage): string => {
    const { method = '', url = '', headers } = request
    const caller = headers['x-read-port']
    if (typeof caller === 'string' && headers['x-read-secret'] === SECRET) {
      const nginx = { method: String(headers['x-read-method']), target: String(headers['x-read-target']) }
      behind.set(caller, [...(behind.get(caller) ?? []), { nginx, service: { method, target: url } }])
      return caller
    }
    const port = String(request.socket.remotePort)
    direct.set(port, [...(direct.get(port) ?? []), { method, target: url }])
    return port
  }
  const stage = await openApiStage({ callerOf: note, server: { keepAliveMs: 500 } })
  const nginx: Proxy & { port: number } = await startOwnNginx((port) => serverOf(port, stage.port))
  return {
    stage,
    async toService(bytes) {
      const { port, ...received } = await send(stage.port, bytes)
      const readings = direct.get(port) ?? []
      direct.delete(port)
      return { ...received, readings }
    },
    async toNginx(bytes) {
      const { port, ...received } = await send(nginx.port, bytes)
      const seen = behind.get(port) ?? []
      behind.delete(port)
      return {
        ...received,
        readings: seen.map((each) => each.nginx),
        behind: seen.map((each) => each.service),
      }
    },
    async [Symbol.asyncDispose]() {
      await nginx[Symbol.asyncDispose]()
      await stage[Symbol.asyncDispose]()
    },
  }
}

/** Tells a request of nginx from one that a mutation made up. */
const SECRET = 'b4f1c07e55'

/** The server of nginx: it tells the service how it read each request, and forwards the target as it came. */
const serverOf = (port: number, service: number): string => `
  client_header_timeout ${NGINX_SECONDS}s; client_body_timeout ${NGINX_SECONDS}s; keepalive_timeout ${NGINX_SECONDS}s;
  large_client_header_buffers 4 16k; underscores_in_headers on;
  upstream service { server 127.0.0.1:${service}; keepalive 16; }
  server {
    listen 127.0.0.1:${port};
    merge_slashes off;
    location / {
      proxy_pass http://service;
      proxy_http_version 1.1;
      proxy_next_upstream off;
      proxy_set_header Connection "";
      proxy_set_header X-Read-Secret ${SECRET};
      proxy_set_header X-Read-Port $remote_port;
      proxy_set_header X-Read-Method $request_method;
      proxy_set_header X-Read-Target $request_uri;
    }
  }`

/** Sends bytes over a new connection, and waits until the server has closed it. */
function send(port: number, bytes: Buffer): Promise<Omit<Received, 'readings'> & Readonly<{ port: string }>> {
  const begun = performance.now()
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    const chunks: Buffer[] = []
    let late = false
    let own = ''
    socket.on('connect', () => (own = String(socket.localPort)))
    const limit = setTimeout(() => {
      late = true
      socket.destroy()
    }, CLOSED_MS_MAX)
    socket.on('data', (chunk: Buffer) => chunks.push(chunk))
    // A server that has refused may reset what it did not read.
    socket.on('error', () => socket.destroy())
    socket.on('close', () => {
      clearTimeout(limit)
      resolve({ bytes: Buffer.concat(chunks), closedMs: performance.now() - begun, late, port: own })
    })
    socket.write(bytes)
  })
}
