import type { LogReader } from '../../log/store/reader.ts'
import { type Ms, msOf } from '../../protocol/moment.ts'
import { type Parsed, parsed, type Problem, refused } from '../../protocol/problem.ts'
import { nextSeq, type Seq } from '../../protocol/seq.ts'
import { endpointPlace, problemReply, type Reply, type StreamAsk, type StreamRoute } from '../http/route.ts'
import type { CallerSlot, CallerSlots } from '../allowance/caller-slots.ts'
import { CLOCK_TOLERANCE_MS, type HeadWaits } from '../following/head-waits.ts'
import type { StreamFraming } from './stream-frame.ts'
import { type StreamLimits, streamLimits } from './limits.ts'
import { openFeedPages } from './feed-pages.ts'
import {
  disconnect,
  isDue,
  type Join,
  openSubscriber,
  type StreamContext,
  type StreamCounts,
  type StreamEnded,
  type StreamLevels,
  type Subscriber,
  takeTurn,
} from './subscriber.ts'
import { parseSubscription, type Subscription } from './subscription.ts'
import { openFanOuts } from './fan-outs.ts'
import { openStallWatch } from '../request/stall-watch.ts'
import { openTurns } from '../fairness/stream-turns.ts'
import { headerList } from '../http/headers.ts'
import { startOf } from '../http/log-filter.ts'
import { parseEventWire } from '../../protocol/event.ts'

export type StreamSettings = Readonly<{
  reader: LogReader
  slots: Pick<CallerSlots, 'take' | 'limits'>
  /** The wall clock; gives the `at` of a position. */
  now: () => Ms
  /** A monotonic clock in milliseconds, for heartbeats, stalls and lifetimes. */
  monotonicMs: () => number
  /** A random number from 0 inclusive to 1 exclusive, for retry times and lifetimes. */
  random: () => number
  /** Receives an error thrown by a read of the store. */
  report: (error: unknown) => void
  /**
   * Receives the delivery time of the oldest event of a fan-out: milliseconds from its moment until all live streams
   * had it.
   */
  onDelivered?: (ms: number) => void
  /** Called when a stream has ended. */
  ended: (ended: StreamEnded) => void
  /** Waits for the log that this node follows; null or absent on a single node. */
  waits?: HeadWaits | null
  limits?: Partial<StreamLimits>
}>

/** The streams of one thread. Disposal ends them over `drainMs`. */
export type Streams = AsyncDisposable &
  Readonly<{
    routes: readonly StreamRoute[]
    counts(): Readonly<StreamCounts>
    /** Number of streams that have not reached the head. */
    behind(): number
    /** Bytes in socket buffers that the kernel has not accepted. */
    heldBytes(): number
    /** Refuses new streams and ends the open ones, spread over `overMs`. Settles when none is left. */
    drain(overMs?: number): Promise<void>
  }>

/**
 * Opens the streams of one thread and their routes. `/api/v1/stream` is the API's. `/live` is the same for the scripts
 * of pages: it counts as a page, takes no parameters, and starts at the head or after `Last-Event-ID`.
 */
export function openStreams(settings: StreamSettings): Streams {
  const limits = streamLimits(settings.limits)
  const { reader, slots, now, waits = null } = settings
  const hub = openHub({ onDelivered: () => undefined, ...settings, limits })
  const pages = openFeedPages(reader, limits)
  const latest = (): Ms => (waits === null ? now() : msOf(now() + CLOCK_TOLERANCE_MS))
  const admission: AdmissionSettings = { reader, slots, limits, latest, follows: waits !== null }
  let draining: Promise<void> | null = null
  const isStopping = (): boolean => draining !== null

  async function handle(ask: StreamAsk): Promise<Reply> {
    const { caller, request, response } = ask
    const subscription = parseSubscription(ask)
    if (!subscription.ok) return problemReply(subscription.problem)
    if (isStopping()) return problemReply(STOPPING)
    const { filter, framing, details, after: asked } = subscription.value
    /** Head of the whole log, when that is before the cursor. */
    let end: Seq | null = null
    if (waits !== null && asked !== undefined && !waits.isHere(asked)) {
      const wait = { seq: asked, caller, msMax: limits.verdictMs, placeOnly: true }
      const place = await waits.wait(wait, response)
      if (response.destroyed) return { is: 'streamed' }
      if (isStopping()) return problemReply(STOPPING)
      if (place.is === 'nowhere') end = place.head
    }
    const admitted = admit(admission, caller, subscription.value, end)
    if (!admitted.ok) return problemReply(admitted.problem)
    const { after, slot } = admitted.value
    response.writeHead(200, headerList(ask.headers, headersOf(framing)))
    if (ask.method === 'HEAD') {
      slot.release()
      response.end()
      return { is: 'streamed' }
    }
    const feed = pages.feed(filter, framing, details)
    const chunked = request.httpVersion !== '1.0'
    try {
      hub.join({ response, socket: request.socket, chunked, feed, slot, after })
    } catch (error) {
      feed.close()
      slot.release()
      throw error
    }
    return { is: 'streamed' }
  }

  function drain(overMs = limits.drainMs): Promise<void> {
    draining ??= hub.drain(overMs)
    return draining
  }

  return {
    routes: [
      { ...endpointPlace('stream'), streaming: true, handle },
      { ...LIVE_PLACE, streaming: true, handle },
    ],
    counts: hub.counts,
    behind: () => hub.levels().behind,
    heldBytes: () => hub.levels().heldBytes,
    drain,
    async [Symbol.asyncDispose]() {
      await drain()
      hub.close()
    },
  }
}

const LIVE_PLACE = {
  path: '/live',
  parameters: [],
  allowance: 'pages',
  showsLog: true,
  sameOrigin: true,
} as const satisfies Partial<StreamRoute>

const STOPPING: Problem = {
  code: 'not-ready',
  detail: 'This node is stopping. Connect again in a moment.',
  retryAfterSeconds: 5,
}

function headersOf(framing: StreamFraming): Readonly<Record<string, string>> {
  return {
    'Content-Type': `${framing === 'sse' ? 'text/event-stream' : 'application/x-ndjson'}; charset=utf-8`,
    'Cache-Control': 'no-store, no-transform',
    'X-Accel-Buffering': 'no',
    Vary: 'Accept',
    Connection: 'close',
  }
}

/** Start of an admitted stream: its exclusive cursor and its slot. */
type Admitted = Readonly<{ after: Seq; slot: CallerSlot }>

type AdmissionSettings = Readonly<{
  reader: LogReader
  slots: Pick<CallerSlots, 'take' | 'limits'>
  limits: StreamLimits
  /** Latest moment that a query may name. */
  latest: () => Ms
  /** Whether this node follows a log, so that a cursor may be ahead of its head. */
  follows: boolean
}>

/**
 * Makes the checks before the first byte. An admitted stream holds a slot, which must be released. A following node
 * admits a cursor ahead of its head, unless the whole log ends before it, at `end`.
 */
function admit(
  settings: AdmissionSettings,
  caller: string,
  subscription: Subscription,
  end: Seq | null,
): Parsed<Admitted> {
  const { reader, limits, latest, follows } = settings
  const { after, from } = subscription
  // Read from a snapshot, because another thread may have streamed events that this thread's head has not reached.
  const { head, start } = reader.snapshot((snapshot) => ({
    head: snapshot.head.seq,
    start: startOf({ from, after }, snapshot, latest()),
  }))
  if (after !== undefined && after > head && (end !== null || !follows))
    return refused(streamCursorAhead(end ?? head, subscription))
  if (!start.ok) return start
  const isLive = after === undefined && from === undefined
  const taken = settings.slots.take(caller)
  if (taken.ok) return parsed({ after: isLive ? head : start.value, slot: taken.slot })
  return refused(taken.full === 'caller' ? callerFull(settings.slots.limits.perCaller) : nodeFull(limits))
}

function callerFull(perCaller: number): Problem {
  const detail = `This address has ${perCaller} open streams, its limit. Close one, or share one.`
  return { code: 'too-many-streams', detail }
}

function nodeFull(limits: StreamLimits): Problem {
  return {
    code: 'stream-capacity',
    detail: 'This node has reached its limit of streams. Try again later, or read /api/v1/events.',
    retryAfterSeconds: limits.capacityRetrySeconds,
  }
}

function streamCursorAhead(head: Seq, subscription: Subscription): Problem {
  const message = `\`${subscription.cursorName}\` is ahead of the head of the log, which is ${head}.`
  return {
    code: 'cursor-ahead',
    detail: message,
    errors: [{ parameter: subscription.cursorName, message }],
    members: { head },
  }
}

/** Checks for bytes that a waiting client has taken, within the time after which it counts as stalled. */
const LOOKS = 3

type HubSettings = Omit<StreamContext, 'head' | 'counts' | 'endReason' | 'queue' | 'gone'> &
  Readonly<{
    /** Receives an error thrown by a read of the store. The affected stream is closed. */
    report: (error: unknown) => void
    /**
     * Receives the delivery time of the oldest event sent: milliseconds from its moment until all live streams had it.
     */
    onDelivered: (ms: number) => void
  }>

type Hub = Readonly<{
  /** Opens a stream on a response whose headers are written. From then on only the hub ends it. */
  join(join: Join): void
  counts(): Readonly<StreamCounts>
  levels(): StreamLevels
  /** Ends all streams, evenly spread over `overMs`. Settles when the last socket is closed. */
  drain(overMs: number): Promise<void>
  close(): void
}>

/** Opens the hub of this thread's streams, with two queues of turns and one timer for all streams. */
function openHub(settings: HubSettings): Hub {
  const { reader, limits, now, monotonicMs, report, onDelivered } = settings
  const subscribers = new Set<Subscriber>()
  const emptied = Promise.withResolvers<void>()
  let endReason: 'lifetime' | 'drain' = 'lifetime'
  let fannedOutTo = reader.head().seq
  /** Moment of the oldest event that a live stream has yet to get; null when there is none. */
  let oldestMs: number | null = null
  const context: StreamContext = {
    ...settings,
    // A stream in history needs the newest head: it must not go live while an older event is unsent.
    head: ({ live }) => (live ? fannedOutTo : reader.head().seq),
    counts: noCounts(),
    endReason: () => endReason,
    queue,
    gone(subscriber) {
      subscribers.delete(subscriber)
      if (subscribers.size === 0 && endReason === 'drain') emptied.resolve()
    },
  }
  const turns = openTurns<Subscriber>({
    monotonicMs,
    sliceMs: { live: limits.liveSliceMs, history: limits.historySliceMs },
    take(subscriber, takenAt) {
      try {
        takeTurn(context, subscriber, takenAt)
      } catch (error) {
        // When a read of the store throws, only this stream ends.
        report(error)
        disconnect(context, subscriber, 'error')
      }
    },
    liveEmptied() {
      if (oldestMs !== null) onDelivered(Math.max(0, now() - oldestMs))
      oldestMs = null
      fanOuts.ended()
    },
  })
  const fanOuts = openFanOuts({ monotonicMs, coalesceMs: limits.coalesceMs, fanOut: queueDue })

  function queue(subscriber: Subscriber): void {
    turns.add(subscriber, subscriber.cursor.live ? 'live' : 'history')
  }

  /** Queues the streams that have something to do. Returns whether a live stream is queued. */
  function queueDue(): boolean {
    try {
      const before = fannedOutTo
      fannedOutTo = reader.head().seq
      const at = monotonicMs()
      for (const subscriber of subscribers) if (isDue(subscriber, at, fannedOutTo, limits)) queue(subscriber)
      if (fannedOutTo > before && turns.waiting('live') > 0) oldestMs ??= momentOf(reader, nextSeq(before))
    } catch (error) {
      report(error)
    }
    return turns.waiting('live') > 0
  }

  const watch = openStallWatch<Subscriber>(limits.stallMs / LOOKS, ({ socket }) => socket)
  const beat = setInterval(() => {
    fanOuts.run()
    watch(subscribers, monotonicMs()).catch(report)
  }, limits.tickMs)
  const stopHead = reader.onHead(fanOuts.wake)

  return {
    join: (join) => subscribers.add(openSubscriber(context, join)),
    counts: () => ({ ...context.counts, closed: { ...context.counts.closed } }),
    levels: () => levelsOf(subscribers, reader.head().seq),
    drain(overMs) {
      endReason = 'drain'
      spreadEnds(subscribers, monotonicMs(), overMs)
      fanOuts.run()
      if (subscribers.size === 0) emptied.resolve()
      return emptied.promise
    },
    close() {
      clearInterval(beat)
      stopHead()
      fanOuts.close()
      turns.close()
    },
  }
}

/** Spreads the ends of all streams over `overMs`, so that clients do not reconnect at the same time. */
function spreadEnds(subscribers: ReadonlySet<Subscriber>, now: number, overMs: number): void {
  for (const [index, subscriber] of [...subscribers].entries()) {
    if (!subscriber.ended)
      subscriber.endsAt = Math.min(subscriber.endsAt, now + (overMs * index) / subscribers.size)
  }
}

function levelsOf(subscribers: Iterable<Subscriber>, head: Seq): StreamLevels {
  let behind = 0
  let heldBytes = 0
  for (const subscriber of subscribers) {
    heldBytes += subscriber.socket.writableLength
    if (!subscriber.ended && subscriber.cursor.seq < head) behind += 1
  }
  return { behind, heldBytes }
}

function noCounts(): StreamCounts {
  return {
    clients: 0,
    opened: 0,
    closed: { client: 0, lifetime: 0, slow: 0, drain: 0, error: 0, behind: 0 },
    eventsSent: 0,
    bytesSent: 0,
  }
}

/** Moment of an event; null when it cannot be read. */
function momentOf(reader: LogReader, seq: Seq): number | null {
  try {
    const line = reader.snapshot((snapshot) => snapshot.line(seq))
    return line === undefined ? null : parseEventWire(Buffer.from(line).toString()).atMs
  } catch {
    // The streams read the same event next, and report the failure.
    return null
  }
}
