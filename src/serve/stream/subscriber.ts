import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { LogReader } from '../../log/store/reader.ts'
import type { Ms } from '../../protocol/moment.ts'
import type { Seq } from '../../protocol/seq.ts'
import type { CallerSlot } from '../allowance/caller-slots.ts'
import type { Cursor } from './cursor.ts'
import { advanceCursor, cursorAt, isBehind } from './cursor.ts'
import type { Packet } from './stream-frame.ts'
import { formatPosition, formatRetry, packetOf } from './stream-frame.ts'
import type { StreamLimits } from './limits.ts'
import type { Feed } from './feed-pages.ts'

/** Why a stream ended: the client left or broke off, its time was over, it took nothing, we stop, or we failed. */
export type StreamEnd = 'client' | 'lifetime' | 'slow' | 'drain' | 'error'

/** What the streams of this thread have done since it started. */
export type StreamCounts = {
  clients: number
  opened: number
  closed: Record<StreamEnd, number>
  eventsSent: number
  /** Bytes handed to sockets, chunk framing included. */
  bytesSent: number
}

/** How the streams of this thread stand at present. */
export type StreamLevels = Readonly<{
  /** Subscribers that have not reached the head. */
  behind: number
  /** Bytes that sockets hold because the kernel has not taken them. */
  heldBytes: number
}>

/** What a stream that has passed every check is opened with. */
export type Join = Readonly<{
  /** Its head is written or waits to be. */
  response: ServerResponse
  socket: Socket
  /** Whether the client speaks HTTP/1.1; older ones get the bytes until the connection closes. */
  chunked: boolean
  feed: Feed
  slot: CallerSlot
  after: Seq
}>

/** One open stream: a cursor, its socket, and times on the monotonic clock in milliseconds. */
export type Subscriber = Omit<Join, 'after'> & {
  readonly cursor: Cursor
  /** Called when the socket has taken a write, or with what became of it instead. */
  readonly flushed: (error?: Error | null) => void
  writtenAt: number
  /** Since when the socket has held bytes back, the opening included; null while it takes all. */
  blockedSince: number | null
  endsAt: number
  /** Whether a turn is queued. */
  queued: boolean
  /** Whether its place is given back; its socket may take a moment longer to close. */
  ended: boolean
  trailingBytes: number
}

/** What all subscribers of a thread work with. */
export type StreamWorld = Readonly<{
  reader: LogReader
  limits: StreamLimits
  /** Up to where a stream writes at present: a live one as of the last fan-out, another as of now. */
  head: (cursor: Cursor) => Seq
  now: () => Ms
  monotonicMs: () => number
  /** From 0 inclusive to 1 exclusive. */
  random: () => number
  counts: StreamCounts
  /** Why a stream ends whose time is over. */
  timeOver: () => 'lifetime' | 'drain'
  queue: (who: Subscriber) => void
  /** The socket is closed, and nothing refers to the subscriber any more. */
  gone: (who: Subscriber) => void
}>

/** Opens a stream: the wait before a retry and the first position, then whatever its cursor has before it. */
export function openSubscriber(world: StreamWorld, join: Join): Subscriber {
  const { limits, counts } = world
  const now = world.monotonicMs()
  // Read before anything is counted: it is the one thing here that may throw.
  const head = world.reader.head().seq
  const { after, ...rest } = join
  const who: Subscriber = {
    ...rest,
    cursor: cursorAt(after, head),
    flushed(error) {
      // A write that failed is followed by the end of its socket, which says all.
      if (error === undefined || error === null) flush(world, who)
    },
    writtenAt: now,
    blockedSince: now,
    endsAt: now + limits.lifetimeMs * (1 + limits.lifetimeSpread * (2 * world.random() - 1)),
    queued: false,
    ended: false,
    trailingBytes: 0,
  }
  counts.opened += 1
  counts.clients += 1
  listen(world, who)
  if (!who.ended) {
    const spreadMs = limits.retryMsMax - limits.retryMsMin + 1
    const retry = formatRetry(who.feed.framing, limits.retryMsMin + Math.floor(world.random() * spreadMs))
    // By way of the response, which may still wait behind another on this connection: when this is out, the
    // head is too, and from then on bytes that all subscribers share go straight to the socket.
    who.response.write(retry + positionText(world, who, head), () => opened(world, who))
  }
  return who
}

function listen(world: StreamWorld, who: Subscriber): void {
  const { socket } = who
  socket.once('close', () => {
    leave(world, who, 'client')
    world.gone(who)
  })
  // A client that has closed its half cannot be told from one that is gone, and holds a place.
  socket.once('end', () => cut(world, who, 'client'))
  if (socket.readableEnded) cut(world, who, 'client')
  // Of a socket that was closed before there is no further word.
  if (socket.closed) {
    leave(world, who, 'client')
    queueMicrotask(() => world.gone(who))
  }
}

function opened(world: StreamWorld, who: Subscriber): void {
  if (who.ended) return
  who.socket.on('data', (bytes: Buffer) => {
    // Nothing behind the request is run; that it is parsed all the same must have a bound.
    who.trailingBytes += bytes.byteLength
    if (who.trailingBytes > world.limits.trailingBytesMax) cut(world, who, 'client')
  })
  who.writtenAt = world.monotonicMs()
  flush(world, who)
}

function flush(world: StreamWorld, who: Subscriber): void {
  if (who.blockedSince === null || who.ended) return
  who.blockedSince = null
  if (isBehind(who.cursor, world.head(who.cursor))) world.queue(who)
}

/** Whether a subscriber needs a turn: something to write, a silence, a stall, or its end. */
export function isDue(who: Subscriber, now: number, head: Seq, limits: StreamLimits): boolean {
  if (who.ended) return now >= who.endsAt + limits.lastFrameMs
  if (now >= who.endsAt) return true
  if (who.blockedSince !== null) return now - who.blockedSince >= limits.stallMs
  return isBehind(who.cursor, head) || now - who.writtenAt >= limits.silenceMs
}

/** One short step of one subscriber, with one write at most; queues the next when there is more to do. */
export function takeTurn(world: StreamWorld, who: Subscriber, now: number): void {
  const { limits } = world
  if (who.ended) {
    if (now >= who.endsAt + limits.lastFrameMs) who.socket.destroy()
  } else if (who.blockedSince !== null) {
    if (now - who.blockedSince >= limits.stallMs) cut(world, who, 'slow')
    else if (now >= who.endsAt) cut(world, who, world.timeOver())
  } else if (now >= who.endsAt) {
    end(world, who, now)
  } else {
    if (now - who.writtenAt >= limits.silenceMs) who.cursor.owesPosition = true
    writeNext(world, who, now)
  }
}

function writeNext(world: StreamWorld, who: Subscriber, now: number): void {
  const { cursor, feed } = who
  const step = advanceCursor(cursor, feed, () => world.head(cursor), world.limits)
  if (step.is === 'position') {
    write(world, who, packetOf(Buffer.from(positionText(world, who))), now)
  } else if (step.is === 'page') {
    world.counts.eventsSent += step.count
    write(world, who, step.packet, now)
  }
  // What was committed since is fanned out with what else comes: it has no turn of its own.
  if (who.blockedSince === null && isBehind(cursor, world.head(cursor))) world.queue(who)
}

const NOTHING: Uint8Array = new Uint8Array(0)

/** One write is in flight at most: what the kernel has not taken of it is all that a client costs. */
function write(world: StreamWorld, who: Subscriber, packet: Packet, now: number): void {
  const bytes = who.chunked ? packet.chunk : packet.bare
  world.counts.bytesSent += bytes.byteLength
  who.writtenAt = now
  who.socket.write(bytes)
  if (who.socket.writableLength === 0) return
  who.blockedSince = now
  // Nothing, behind what the kernel has not taken: it is flushed when all before it is. A callback with each write
  // would cost every subscriber a tick, also the many whose socket takes all at once.
  who.socket.write(NOTHING, who.flushed)
}

function positionText(world: StreamWorld, who: Subscriber, known: Seq = world.head(who.cursor)): string {
  const { seq, live } = who.cursor
  // A page is read from the newest snapshot, which may be ahead of what all streams have been shown.
  const head = seq > known ? seq : known
  return formatPosition(who.feed.framing, { seq, head, live, atMs: world.now() })
}

/** Ends a stream whose socket takes bytes, with a position that says where to resume. */
function end(world: StreamWorld, who: Subscriber, now: number): void {
  const last = packetOf(Buffer.from(positionText(world, who)))
  leave(world, who, world.timeOver())
  who.endsAt = now
  write(world, who, last, now)
  who.response.end()
}

/** Breaks a connection off. Of a client that takes nothing, the kernel must not keep the bytes either. */
export function cut(world: StreamWorld, who: Subscriber, why: StreamEnd): void {
  if (who.ended) return
  leave(world, who, why)
  if (why === 'client' || who.socket.remoteAddress === undefined) who.socket.destroy()
  else who.socket.resetAndDestroy()
}

/** Gives back what a stream holds, exactly once, in whichever order its socket ends, closes or fails. */
function leave(world: StreamWorld, who: Subscriber, why: StreamEnd): void {
  if (who.ended) return
  who.ended = true
  world.counts.clients -= 1
  world.counts.closed[why] += 1
  who.feed.close()
  who.slot.release()
}
