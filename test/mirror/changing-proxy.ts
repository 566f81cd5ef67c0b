import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { Readable } from 'node:stream'

/** Changes of what an origin sends. Each may return its argument. */
export type Changes = Readonly<{
  /** Changes a whole answer of a path below `/api/v1/`, without its query. Undefined: the connection is cut. */
  body?: (path: string, body: Buffer, headers: Headers) => Buffer | undefined
  /** Changes a line of the stream. Undefined: the connection is cut. */
  line?: (line: string) => string | undefined
  /** Answers in place of the origin. Returns whether it did. */
  answer?: (path: string, response: ServerResponse) => boolean
}>

/** A hostile service between a mirror and its origin, over HTTP. */
type ChangingProxy = AsyncDisposable &
  Readonly<{
    url: string
    /** Paths that were asked for, without their queries. */
    asked: string[]
    /** Changes the answers from now on, and cuts open streams. */
    change(changes: Changes): void
    /** Leads to another origin from now on; null refuses all requests. */
    lead(to: string | null): void
  }>

/** Headers that depend on the bytes of a body, and those of the connection. */
const DROPPED = new Set([
  'content-length',
  'content-encoding',
  'connection',
  'keep-alive',
  'transfer-encoding',
])

export async function openChangingProxy(origin: string): Promise<ChangingProxy> {
  let to: string | null = origin
  let changes: Changes = {}
  let streams = new AbortController()
  const asked: string[] = []

  async function relay(target: string, response: ServerResponse): Promise<void> {
    const path = target.replace(/\?.*$/s, '').replace('/api/v1/', '')
    asked.push(path)
    if (changes.answer?.(path, response) === true) return
    if (to === null) throw new Error('there is no origin')
    const answer = await fetch(`${to}${target}`, { signal: streams.signal })
    for (const [name, value] of answer.headers) if (!DROPPED.has(name)) response.setHeader(name, value)
    response.statusCode = answer.status
    if (path === 'stream' && answer.ok && answer.body !== null) {
      response.flushHeaders()
      return relayLines(answer.body, response)
    }
    const body = Buffer.from(await answer.arrayBuffer())
    const changed = changes.body === undefined ? body : changes.body(path, body, answer.headers)
    if (changed === undefined) response.destroy()
    else response.end(changed)
    return undefined
  }

  async function relayLines(body: ReadableStream<Uint8Array>, response: ServerResponse): Promise<void> {
    let rest = ''
    for await (const piece of body) {
      const lines = (rest + Buffer.from(piece).toString()).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) {
        const changed = changes.line === undefined ? line : changes.line(line)
        if (changed === undefined) return void response.destroy()
        response.write(`${changed}\n`)
      }
    }
    response.end()
    return undefined
  }

  const server = createServer((request, response) => {
    relay(request.url ?? '/', response).catch(() => response.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const cut = (): void => {
    streams.abort()
    streams = new AbortController()
  }
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    change(next) {
      changes = next
      cut()
    },
    lead(next) {
      to = next
      cut()
      server.closeAllConnections()
    },
    async [Symbol.asyncDispose]() {
      cut()
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

/** Bytes without end: the piece again and again. */
export function endless(piece: Buffer): Readable {
  return Readable.from(
    (function* () {
      for (;;) yield piece
    })(),
  )
}
