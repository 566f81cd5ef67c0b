import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { EVM_METHODS } from './evm-rpc.ts'
import type { ChainKind } from './chain-settings.ts'
import type { PretendChain } from './pretend-chain.ts'
import { answerBody, type RpcMethods } from './rpc-envelope.ts'
import { type FaultName, type Faults, viewOf } from './rpc-faults.ts'
import { SOLANA_METHODS } from './solana-rpc.ts'

/** HTTP server on loopback that answers JSON-RPC as a node of the pretend chain. */
export type RpcServer = AsyncDisposable &
  Readonly<{
    url: string
    port: number
    /** Replaces the faults; a function returns those of each request. */
    setFaults(faults: Faults | (() => Faults)): void
    /** Number of times that each fault took effect. */
    fired(): Readonly<Partial<Record<FaultName, number>>>
    /** Number of HTTP requests. */
    requests(): number
    /** Number of calls of each method, including those in batches. */
    calls(): Readonly<Record<string, number>>
    /** Ends all connections. A new server with the same `port` is the same server restarted. */
    close(): Promise<void>
  }>

type RpcServerSettings = Readonly<{
  chain: PretendChain
  faults?: Faults | (() => Faults)
  /** 0, the default, takes a free port. */
  port?: number
  /** Path of the URL, where providers put the key of an account. */
  path?: string
  /** Whether pages of any site may ask. Agave allows it; geth does only if configured. */
  cors?: boolean
}>

/** Longest request body, as Agave and geth have it. */
const BODY_BYTES_MAX: Readonly<Record<ChainKind, number>> = { solana: 50 * 1024, evm: 5 * 1024 * 1024 }
const METHODS: Readonly<Record<ChainKind, RpcMethods>> = { solana: SOLANA_METHODS, evm: EVM_METHODS }
const JSON_TYPE = { 'content-type': 'application/json' }
const HTML_PAGE = '<html><head><title>Bad Gateway</title></head><body><h1>Bad Gateway</h1></body></html>\n'

/** Opens a server. The process stays alive until it is closed. */
export async function openRpcServer(settings: RpcServerSettings): Promise<RpcServer> {
  const fired: Partial<Record<FaultName, number>> = {}
  const calls: Record<string, number> = {}
  let faults = settings.faults ?? {}
  let requests = 0
  const fire = (name: FaultName): void => {
    fired[name] = (fired[name] ?? 0) + 1
  }
  const server = createServer((request, response) => {
    requests++
    const present = typeof faults === 'function' ? faults() : faults
    const called = (method: string): void => {
      calls[method] = (calls[method] ?? 0) + 1
    }
    if (settings.cors === true) {
      response.setHeader('access-control-allow-origin', '*')
      response.setHeader('access-control-allow-headers', 'content-type')
      if (request.method === 'OPTIONS') return void response.writeHead(204).end()
    }
    answer(settings.chain, { request, response, faults: present, fire, called }).catch(() =>
      response.destroy(),
    )
  })
  await once(server.listen(settings.port ?? 0, '127.0.0.1'), 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const close = async (): Promise<void> => {
    server.closeAllConnections()
    await new Promise<void>((resolve) => server.close(() => resolve()))
  }
  return {
    url: `http://127.0.0.1:${port}${settings.path ?? '/'}`,
    port,
    setFaults(next) {
      faults = next
    },
    fired: () => ({ ...fired }),
    requests: () => requests,
    calls: () => ({ ...calls }),
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** One request, its answer, and the faults for it. */
type Exchange = Readonly<{
  request: IncomingMessage
  response: ServerResponse
  faults: Faults
  fire(name: FaultName): void
  called(method: string): void
}>

async function answer(chain: PretendChain, exchange: Exchange): Promise<void> {
  const { request, response, faults, fire } = exchange
  if (faults.down === true) {
    fire('down')
    request.destroy()
    return
  }
  const refused = refusedForm(request)
  if (refused !== null) return void response.writeHead(refused.status).end(refused.text)
  const body = await buffer(request)
  if (body.length > BODY_BYTES_MAX[chain.kind])
    return void response.writeHead(413, { connection: 'close' }).end('Payload Too Large')
  if (faults.slowMs !== undefined) {
    fire('slowMs')
    await sleep(faults.slowMs, undefined, { ref: false })
  }
  if (brokenAnswer(chain.kind, exchange)) return
  const text = answerBody({
    body: body.toString(),
    methods: METHODS[chain.kind],
    view: viewOf(chain, faults, fire),
    called: exchange.called,
  })
  if (text === 'too large') return void response.writeHead(413).end('Payload Too Large')
  sendWhole(text, exchange)
}

/** HTTP status and text for a request that is not JSON-RPC over HTTP; null when it is. */
function refusedForm(request: IncomingMessage): Readonly<{ status: number; text: string }> | null {
  if (request.method !== 'POST') {
    return { status: 405, text: 'Used HTTP Method is not allowed. POST or OPTIONS is required\n' }
  }
  if (request.headers['content-type']?.split(';')[0]?.trim() === 'application/json') return null
  return {
    status: 415,
    text: 'Supplied content type is not allowed. Content-Type: application/json is required\n',
  }
}

/** Answers with a transport fault that needs no chain. Returns whether it did. */
function brokenAnswer(kind: ChainKind, { response, faults, fire }: Exchange): boolean {
  if (faults.hangs === true) {
    fire('hangs')
    return true
  }
  if (faults.status !== undefined) {
    fire('status')
    const retry = faults.retryAfter === undefined ? {} : { 'retry-after': faults.retryAfter }
    if (faults.status === 429) response.writeHead(429, { ...JSON_TYPE, ...retry }).end(rateLimited(kind))
    else response.writeHead(faults.status, { 'content-type': 'text/html', ...retry }).end(HTML_PAGE)
    return true
  }
  if (faults.html === true) {
    fire('html')
    response.writeHead(200, { 'content-type': 'text/html' }).end(HTML_PAGE)
    return true
  }
  if (faults.endless === true) {
    fire('endless')
    sendEndless(response)
    return true
  }
  return false
}

function rateLimited(kind: ChainKind): string {
  const error =
    kind === 'solana'
      ? { code: 429, message: 'Too many requests for a specific RPC call' }
      : { code: -32_005, message: 'project ID request rate exceeded' }
  return JSON.stringify({ jsonrpc: '2.0', error, id: null })
}

const ENDLESS_PART = ' '.repeat(65_536)

function sendEndless(response: ServerResponse): void {
  response.writeHead(200, JSON_TYPE)
  const more = (): void => {
    while (!response.destroyed && response.write(ENDLESS_PART));
  }
  response.on('drain', more)
  more()
}

function sendWhole(text: string, { response, faults, fire }: Exchange): void {
  if (faults.cut === 'connection') {
    fire('cut')
    response.writeHead(200, { ...JSON_TYPE, 'content-length': Buffer.byteLength(text) })
    response.write(text.slice(0, text.length >> 1), () => response.destroy())
    return
  }
  if (faults.cut === 'json') fire('cut')
  response.writeHead(200, JSON_TYPE).end(faults.cut === 'json' ? text.slice(0, text.length >> 1) : text)
}
