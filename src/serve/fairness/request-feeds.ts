import type { Server } from 'node:http'
import type { Socket } from 'node:net'

/** Bytes that are parsed at once: some 150 of the shortest requests, a millisecond and a half. */
const SLICE_BYTES = 4 * 1024
const REQUEST_END = '\r\n\r\n'

/** Feeds the parser of each connection, so that one read of the system never holds the serving loop for long. */
export type RequestFeeds = Readonly<{
  /** Goes on with what a connection has sent, when fewer of its requests wait. */
  resume(socket: Socket): void
}>

type Feed = { parse: (bytes: Buffer) => void; rest: Buffer | undefined; held: boolean }

/**
 * Takes over the bytes of the server's connections. Node parses all that one read brings, 64 KiB at most: two thousand
 * pipelined requests, some 20 ms, and as much for each further connection. Here a slice that ends with a request is
 * parsed, and the rest when the requests before it have been answered. `isFull` tells whether enough of a connection's requests wait.
 */
export function openRequestFeeds(server: Server, isFull: (socket: Socket) => boolean): RequestFeeds {
  const feeds = new WeakMap<Socket, Feed>()

  const mayParse = (socket: Socket): boolean => !isFull(socket) && !socket.destroyed && !isHeldByNode(socket)

  function go(socket: Socket, feed: Feed): void {
    while (feed.rest !== undefined && mayParse(socket)) {
      const end = endOfSlice(feed.rest)
      const slice = feed.rest.subarray(0, end)
      feed.rest = end < feed.rest.length ? feed.rest.subarray(end) : undefined
      feed.parse(slice)
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
    // The server's own listener is there first. Taking it off makes Node give the bytes to us.
    const [parse] = socket.listeners('data')
    if (parse === undefined) return
    const feed: Feed = { parse: parserOf(socket, parse), rest: undefined, held: false }
    feeds.set(socket, feed)
    socket.removeAllListeners('data')
    socket.on('data', (bytes: Buffer) => {
      if (feed.rest === undefined && bytes.length <= SLICE_BYTES && mayParse(socket)) {
        feed.parse(bytes)
        return
      }
      feed.rest = feed.rest === undefined ? bytes : Buffer.concat([feed.rest, bytes])
      go(socket, feed)
    })
    // Node's own listener is there first: by now it has let go of the parser.
    socket.on('drain', () => go(socket, feed))
  })

  return {
    resume(socket) {
      const feed = feeds.get(socket)
      if (feed !== undefined) go(socket, feed)
    },
  }
}

/** Node parses nothing, and asserts so, while a connection does not take its answers. */
function isHeldByNode(socket: Socket): boolean {
  return socket.writableNeedDrain || Reflect.get(socket, '_paused') === true
}

/** What fails in Node's parser ends its connection and nothing else. */
function parserOf(socket: Socket, parse: CallableFunction): Feed['parse'] {
  return (bytes) => {
    try {
      Reflect.apply(parse, socket, [bytes])
    } catch {
      socket.destroy()
    }
  }
}

/** The end of the last request that a slice holds whole; without one, of the slice. */
function endOfSlice(bytes: Buffer): number {
  if (bytes.length <= SLICE_BYTES) return bytes.length
  const end = bytes.lastIndexOf(REQUEST_END, SLICE_BYTES - REQUEST_END.length, 'latin1')
  return end < 0 ? SLICE_BYTES : end + REQUEST_END.length
}
