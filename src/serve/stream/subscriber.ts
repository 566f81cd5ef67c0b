import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { LogReader } from '../../log/store/reader.ts'
import type { Ms } from '../../protocol/moment.ts'
import type { Seq } from '../../protocol/seq.ts'
import type { CallerSlot } from '../allowance/caller-slots.ts'
import type { WatchedWriter } from '../request/stall-watch.ts'
import { advanceCursor, type Cursor, cursorAt, isAhead, isBehind } from './cursor.ts'
import { formatPosition, formatRetry, type Packet, packetOf } from './stream-frame.ts'
import type { StreamLimits } from './limits.ts'
import type { Feed } from './feed-pages.ts'

/**
 * Cause of a stream's end: the client left, its lifetime was over, it read nothing, the node stops, the node failed, or
 * the node did not reach its cursor.
 */
type StreamEnd = 'client' | 'lifetime' | 'slow' | 'drain' | 'error' | 'behind'

/** A stream that has ended. */
export type StreamEnded = Readonly<{
  why: StreamEnd
  /** Last seq that was written. */
  seq: Seq
}>

/** Counters of this thread's streams since it started. */
export type StreamCounts = {
  clients: number
  opened: number
  closed: Record<StreamEnd, number>
  eventsSent: number
  /** Bytes written to sockets, with chunk framing. */
  bytesSent: number
}

/** Gauges of this thread's streams. */
export type StreamLevels = Readonly<{
  /** Subscribers that have not reached the head. */
  behind: number
  /** Bytes in socket buffers that the kernel has not accepted. */
  heldBytes: number
}>

/** Parts of a stream that has passed all checks. */
export type Join = Readonly<{
  /** Its headers are written or queued. */
  response: ServerResponse
  socket: Socket
  /** Whether the body is chunked. A client of HTTP/1.0 reads until the connection closes. */
  chunked: boolean
  feed: Feed
  slot: CallerSlot
  after: Seq
}>

/** An open stream: cursor, socket, and times in milliseconds of the monotonic clock. */
export type Subscriber = Omit<Join, 'after'> &
  WatchedWriter & {
    readonly cursor: Cursor
    /** Callback of a write: the kernel has accepted it, or the error. */
    readonly flushed: (error?: Error | null) => void
    writtenAt: number
    endsAt: number
    /** Time at which the stream ends if its cursor is still ahead of the head. */
    aheadEndsAt: number
    /** Whether its slot is released. Its socket may close a moment later. */
    ended: boolean
    trailingBytes: number
  }

/** Parts that all subscribers of a thread share. */
export type StreamContext = Readonly<{
  reader: LogReader
  limits: StreamLimits
  /**
   * Last seq to write. A live stream has the head of the last fan-out, a stream that reads history the current head.
   */
  head: (cursor: Cursor) => Seq
  now: () => Ms
  monotonicMs: () => number
  /** A random number from 0 inclusive to 1 exclusive. */
  random: () => number
  counts: StreamCounts
  /** Reason given for a stream whose time is over. */
  endReason: () => 'lifetime' | 'drain'
  queue: (subscriber: Subscriber) => void
  /** Called when a stream has ended. */
  ended: (ended: StreamEnded) => void
  /** Drops a subscriber whose socket is closed. */
  gone: (subscriber: Subscriber) => void
}>

/** Opens a stream. Writes the retry time and the first position. */
export function openSubscriber(context: StreamContext, join: Join): Subscriber {
  const { limits, counts } = context
  const now = context.monotonicMs()
  // Only this read can throw, so it comes before anything is counted.
  const head = context.reader.head().seq
  const { after, ...rest } = join
  const subscriber: Subscriber = {
    ...rest,
    cursor: cursorAt(after, head),
    flushed(error) {
      // A failed write is followed by the `close` of its socket.
      if (error === undefined || error === null) flush(context, subscriber)
    },
    writtenAt: now,
    blockedSince: now,
    unacknowledged: null,
    endsAt: now + limits.lifetimeMs * (1 + limits.lifetimeSpread * (2 * context.random() - 1)),
    aheadEndsAt: now + limits.aheadMs,
    ended: false,
    trailingBytes: 0,
  }
  counts.opened += 1
  counts.clients += 1
  listen(context, subscriber)
  if (!subscriber.ended) {
    const spreadMs = limits.retryMsMax - limits.retryMsMin + 1
    const retry = formatRetry(
      subscriber.feed.framing,
      limits.retryMsMin + Math.floor(context.random() * spreadMs),
    )
    // Written through the response, which may still wait behind another response of this connection. Its callback also
    // means that the headers are sent. Later writes go directly to the socket, with bytes that subscribers share.
    subscriber.response.write(retry + positionText(context, subscriber, head), () =>
      opened(context, subscriber),
    )
  }
  return subscriber
}

function listen(context: StreamContext, subscriber: Subscriber): void {
  const { socket } = subscriber
  socket.once('close', () => {
    release(context, subscriber, 'client')
    context.gone(subscriber)
  })
  // A client that has closed its half looks like one that is gone, and would keep its slot.
  socket.once('end', () => disconnect(context, subscriber, 'client'))
  if (socket.readableEnded) disconnect(context, subscriber, 'client')
  // A socket that is closed already emits no more events.
  if (socket.closed) {
    release(context, subscriber, 'client')
    queueMicrotask(() => context.gone(subscriber))
  }
}

function opened(context: StreamContext, subscriber: Subscriber): void {
  if (subscriber.ended) return
  subscriber.socket.on('data', (bytes: Buffer) => {
    // Node parses later requests although they never run, so their bytes need a limit.
    subscriber.trailingBytes += bytes.byteLength
    if (subscriber.trailingBytes > context.limits.trailingBytesMax) disconnect(context, subscriber, 'client')
  })
  subscriber.writtenAt = context.monotonicMs()
  flush(context, subscriber)
}

function flush(context: StreamContext, subscriber: Subscriber): void {
  if (subscriber.blockedSince === null || subscriber.ended) return
  subscriber.blockedSince = null
  if (isBehind(subscriber.cursor, context.head(subscriber.cursor))) context.queue(subscriber)
}

/** Whether a subscriber needs a turn: to write events or a heartbeat, or because it has stalled or expired. */
export function isDue(subscriber: Subscriber, now: number, head: Seq, limits: StreamLimits): boolean {
  if (subscriber.ended) return now >= subscriber.endsAt + limits.lastFrameMs
  if (now >= subscriber.endsAt || hasWaitedEnough(subscriber, now, head)) return true
  if (subscriber.blockedSince !== null) return now - subscriber.blockedSince >= limits.stallMs
  return isBehind(subscriber.cursor, head) || now - subscriber.writtenAt >= limits.heartbeatMs
}

/** Whether the wait of a stream for a cursor ahead of the node has timed out. */
function hasWaitedEnough({ cursor, aheadEndsAt }: Subscriber, now: number, head: Seq): boolean {
  return now >= aheadEndsAt && isAhead(cursor, head)
}

/** Takes one short step of a subscriber, with at most one write. Queues the next step when there is more to do. */
export function takeTurn(context: StreamContext, subscriber: Subscriber, now: number): void {
  const { limits } = context
  if (subscriber.ended) {
    if (now >= subscriber.endsAt + limits.lastFrameMs) subscriber.socket.destroy()
  } else if (subscriber.blockedSince !== null) {
    if (now - subscriber.blockedSince >= limits.stallMs) disconnect(context, subscriber, 'slow')
    else if (now >= subscriber.endsAt) disconnect(context, subscriber, context.endReason())
  } else if (now >= subscriber.endsAt) {
    end(context, subscriber, now, context.endReason())
  } else if (hasWaitedEnough(subscriber, now, context.head(subscriber.cursor))) {
    end(context, subscriber, now, 'behind')
  } else {
    if (now - subscriber.writtenAt >= limits.heartbeatMs) subscriber.cursor.positionDue = true
    writeNext(context, subscriber, now)
  }
}

function writeNext(context: StreamContext, subscriber: Subscriber, now: number): void {
  const { cursor, feed } = subscriber
  const step = advanceCursor(cursor, feed, () => context.head(cursor), context.limits)
  if (step.is === 'position') {
    write(context, subscriber, packetOf(Buffer.from(positionText(context, subscriber))), now)
  } else if (step.is === 'page') {
    context.counts.eventsSent += step.count
    write(context, subscriber, step.packet, now)
  }
  // A live stream uses the head of the last fan-out, so newer commits wait for the next one.
  if (subscriber.blockedSince === null && isBehind(cursor, context.head(cursor))) context.queue(subscriber)
}

const NOTHING: Uint8Array = new Uint8Array(0)

/** Writes a packet. At most one write is in flight, so that a slow client holds only one packet in memory. */
function write(context: StreamContext, subscriber: Subscriber, packet: Packet, now: number): void {
  const bytes = subscriber.chunked ? packet.chunk : packet.bare
  context.counts.bytesSent += bytes.byteLength
  subscriber.writtenAt = now
  subscriber.socket.write(bytes)
  if (subscriber.socket.writableLength === 0) return
  subscriber.blockedSince = now
  subscriber.unacknowledged = null
  // An empty write is flushed after all earlier bytes. A callback on each write would cost a tick for every subscriber,
  // even when the kernel accepts all bytes immediately.
  subscriber.socket.write(NOTHING, subscriber.flushed)
}

function positionText(
  context: StreamContext,
  subscriber: Subscriber,
  known: Seq = context.head(subscriber.cursor),
): string {
  const { seq, live } = subscriber.cursor
  // A page comes from the newest snapshot, which may be ahead of the last fan-out. A stream whose cursor is ahead of
  // the node reports the node's head.
  const head = seq > known && !isAhead(subscriber.cursor, known) ? seq : known
  return formatPosition(subscriber.feed.framing, { seq, head, live, atMs: context.now() })
}

/** Ends a stream that is not blocked. Its last frame is a position, from which the client resumes. */
function end(context: StreamContext, subscriber: Subscriber, now: number, why: StreamEnd): void {
  const last = packetOf(Buffer.from(positionText(context, subscriber)))
  release(context, subscriber, why)
  subscriber.endsAt = now
  write(context, subscriber, last, now)
  subscriber.response.end()
}

/** Ends a stream by closing its connection. A reset also drops the bytes that the kernel holds for a slow client. */
export function disconnect(context: StreamContext, subscriber: Subscriber, why: StreamEnd): void {
  if (subscriber.ended) return
  release(context, subscriber, why)
  if (why === 'client' || subscriber.socket.remoteAddress === undefined) subscriber.socket.destroy()
  else subscriber.socket.resetAndDestroy()
}

/** Releases the slot and memory of a stream exactly once, in any order of its socket's events. */
function release(context: StreamContext, subscriber: Subscriber, why: StreamEnd): void {
  if (subscriber.ended) return
  subscriber.ended = true
  context.counts.clients -= 1
  context.counts.closed[why] += 1
  subscriber.feed.close()
  subscriber.slot.release()
  context.ended({ why, seq: subscriber.cursor.seq })
}
