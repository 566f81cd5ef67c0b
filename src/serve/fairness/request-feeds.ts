import type { Server } from 'node:http'
import type { Socket } from 'node:net'

/** Bytes parsed at once: about 150 of the shortest requests, or 1.5 ms. */
const SLICE_BYTES = 4 * 1024
const LINE_END = '\r\n'
const REQUEST_END = '\r\n\r\n'

/** Feeds the parser of each connection in slices, so that one read never blocks the serving loop for long. */
export type RequestFeeds = Readonly<{
  /** Parses more bytes of a connection, unless too many of its requests still wait. */
  resume(socket: Socket): void
  /** Whether the first line of a connection's unfinished request has been parsed. */
  isPastTarget(socket: Socket): boolean
}>

type Feed = {
  /** Node's own listener, which parses bytes. */
  readonly parse: CallableFunction
  /** Bytes that are not parsed yet. */
  rest: Buffer | undefined
  held: boolean
  /** Whether the first line of the unfinished request is in bytes that are parsed. */
  pastTarget: boolean
}

/**
 * Takes over the bytes of the server's connections. Node would parse a whole read at once: 64 KiB contain two thousand
 * pipelined requests and take about 20 ms. Here each parse takes one slice, which ends at the end of a request where
 * possible. The next slice is parsed unless `isFull`, which says whether enough requests of the connection wait.
 */
export function openRequestFeeds(server: Server, isFull: (socket: Socket) => boolean): RequestFeeds {
  const feeds = new WeakMap<Socket, Feed>()

  function go(socket: Socket, feed: Feed): void {
    // A refused connection is no longer writable, and the rest of its bytes is not read.
    while (feed.rest !== undefined && !isFull(socket) && socket.writable && !isHeldByNode(socket)) {
      const bytes = feed.rest
      const end = bytes.length <= SLICE_BYTES ? bytes.length : endOfSlice(bytes)
      const slice = bytes.subarray(0, end)
      feed.rest = end < bytes.length ? bytes.subarray(end) : undefined
      try {
        Reflect.apply(feed.parse, socket, [slice])
      } catch {
        // An error of Node's parser closes this connection only.
        socket.destroy()
      }
      feed.pastTarget = isPastTargetAfter(slice, feed.pastTarget)
    }
    if (feed.rest !== undefined) {
      feed.held = true
      socket.pause()
    } else if (feed.held && !isHeldByNode(socket)) {
      feed.held = false
      socket.resume()
    }
  }

  server.on('connection', (socket: Socket) => {
    // The server's own listener is the first. Removing it makes Node pass the bytes to us.
    const [parse] = socket.listeners('data')
    if (parse === undefined) return
    const feed: Feed = { parse, rest: undefined, held: false, pastTarget: false }
    feeds.set(socket, feed)
    socket.removeAllListeners('data')
    socket.on('data', (bytes: Buffer) => {
      feed.rest = feed.rest === undefined ? bytes : Buffer.concat([feed.rest, bytes])
      go(socket, feed)
    })
    // Node's own listener runs first and releases the parser.
    socket.on('drain', () => go(socket, feed))
  })

  return {
    resume(socket) {
      const feed = feeds.get(socket)
      if (feed !== undefined) go(socket, feed)
    },
    isPastTarget: (socket) => feeds.get(socket)?.pastTarget === true,
  }
}

/**
 * Whether Node has paused the parser because the client reads no answers. Parsing would then fail an assertion in Node.
 */
function isHeldByNode(socket: Socket): boolean {
  return socket.writableNeedDrain || Reflect.get(socket, '_paused') === true
}

/** Whether the first line of the unfinished request after these bytes has ended; false if none is unfinished. */
function isPastTargetAfter(bytes: Buffer, before: boolean): boolean {
  const end = bytes.lastIndexOf(REQUEST_END, bytes.length, 'latin1')
  if (end >= 0 && end === bytes.length - REQUEST_END.length) return false
  return bytes.includes(LINE_END, end < 0 ? 0 : end + REQUEST_END.length, 'latin1') || (end < 0 && before)
}

/** End of the last whole request in the first slice of these bytes; the end of the slice if there is none. */
function endOfSlice(bytes: Buffer): number {
  const end = bytes.lastIndexOf(REQUEST_END, SLICE_BYTES - REQUEST_END.length, 'latin1')
  return end < 0 ? SLICE_BYTES : end + REQUEST_END.length
}
