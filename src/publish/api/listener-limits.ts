import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'
import { assert } from '../../protocol/brand.ts'

/** Connections of a listener that is never full. */
export type CrowdedConnections = Readonly<{
  /**
   * Protects a connection while its answer is made: other connections are ended first, until the hold is disposed of.
   */
  hold(socket: Socket): Disposable
}>

/**
 * Limits a server to `max` connections. Each further one ends the oldest that is not held, or the oldest of all when
 * every one is held. Refusing new connections instead would let idle or slow clients keep the listener full. `onEnded`
 * is called for each connection that is ended this way.
 */
export function endOldConnections(server: Server, max: number, onEnded: () => void): CrowdedConnections {
  const open = new Set<Socket>()
  const held = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    if (open.size >= max) {
      const oldest = open.values().find((one) => !held.has(one)) ?? [...open][0]
      if (oldest !== undefined) open.delete(oldest)
      oldest?.destroy()
      onEnded()
    }
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
  return {
    hold(socket) {
      held.add(socket)
      return { [Symbol.dispose]: () => void held.delete(socket) }
    },
  }
}

/** Milliseconds between two sweeps of idle connections while a listener closes. */
const SWEEP_MS = 20

/** Closes a listener: answers the requests in progress, and cuts remaining connections after `graceMs`. */
export async function closeListener(server: Server, graceMs: number): Promise<void> {
  // An answered keep-alive connection would delay the stop up to the limit.
  const sweep = setInterval(() => server.closeIdleConnections(), SWEEP_MS)
  const limit = setTimeout(() => server.closeAllConnections(), graceMs)
  await new Promise((resolve) => server.close(resolve))
  clearInterval(sweep)
  clearTimeout(limit)
}

/** Reason why the reading of a body ended: it was read whole, it is too long, or its reader stopped. */
type BodyEnd = 'whole' | 'too-long' | 'left'

/**
 * Reads the body of a request. `bytes` is the whole body if `end` is `whole`. Stops when the body exceeds `bytesMax`
 * bytes, when `take` returns false, and when `left` settles. The connection stays open for an answer; Node discards the
 * rest of the body after it.
 */
export async function readBody(
  request: IncomingMessage,
  bytesMax: number,
  take: (bytes: number) => boolean = () => true,
  left: Promise<null> | null = null,
): Promise<Readonly<{ end: BodyEnd; bytes: Buffer }>> {
  const none = Buffer.alloc(0)
  if (Number(request.headers['content-length'] ?? 0) > bytesMax) return { end: 'too-long', bytes: none }
  const pieces: Buffer[] = []
  const coming = request.iterator({ destroyOnReturn: false })
  for (let bytes = 0; ;) {
    const next = await (left === null ? coming.next() : Promise.race([coming.next(), left]))
    if (next === null) return { end: 'left', bytes: none }
    if (next.done === true) return { end: 'whole', bytes: Buffer.concat(pieces) }
    const piece: unknown = next.value
    assert(Buffer.isBuffer(piece), 'a request body comes as bytes')
    bytes += piece.length
    if (bytes > bytesMax) return { end: 'too-long', bytes: none }
    if (!take(piece.length)) return { end: 'left', bytes: none }
    pieces.push(piece)
  }
}
