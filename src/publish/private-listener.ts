import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'
import { assert } from '../protocol/brand.ts'

/** Connections of a listener that is never full. */
export type CrowdedConnections = Readonly<{
  /** Ends other connections before this one until the returned function is called: its answer is being made. */
  hold(socket: Socket): () => void
}>

/**
 * Makes room for each new connection of a server: beyond `max`, the oldest one that is not held is ended, or the oldest of
 * all when every one is held. A listener that refuses new ones instead could be kept full with idle connections, with
 * bodies that never end, and with requests that wait for their turn. `onEnded` is called for each connection that is
 * ended so.
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
      return () => void held.delete(socket)
    },
  }
}

/** End of the reading of a body: all of it was read, it has too many bytes, or its reader wanted no more. */
type BodyEnd = 'whole' | 'too-long' | 'left'

/**
 * Reads the body of a request in pieces until `take` returns false, `left` settles, or the body has more than `bytesMax`
 * bytes. The connection stays open, so that an answer can be sent; Node throws the rest of the body away after it.
 */
export async function readPieces(
  request: IncomingMessage,
  bytesMax: number,
  take: (piece: Buffer) => boolean | Promise<boolean>,
  left: Promise<null> | null = null,
): Promise<BodyEnd> {
  if (Number(request.headers['content-length'] ?? 0) > bytesMax) return 'too-long'
  const pieces = request.iterator({ destroyOnReturn: false })
  for (let bytes = 0; ;) {
    const next = await (left === null ? pieces.next() : Promise.race([pieces.next(), left]))
    if (next === null) return 'left'
    if (next.done === true) return 'whole'
    const piece: unknown = next.value
    assert(Buffer.isBuffer(piece), 'a request body comes as bytes')
    bytes += piece.length
    if (bytes > bytesMax) return 'too-long'
    if (!(await take(piece))) return 'left'
  }
}

/** Reads the body of a request. `bytes` are all of it when `end` is `whole`. */
export async function readWhole(
  request: IncomingMessage,
  bytesMax: number,
  take: (piece: Buffer) => boolean = () => true,
  left: Promise<null> | null = null,
): Promise<Readonly<{ end: BodyEnd; bytes: Buffer }>> {
  const pieces: Buffer[] = []
  const end = await readPieces(request, bytesMax, (piece) => take(piece) && pieces.push(piece) > 0, left)
  return { end, bytes: Buffer.concat(pieces) }
}
