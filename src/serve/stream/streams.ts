import type { LogReader } from '../../log/store/reader.ts'
import { type Ms, msOf } from '../../protocol/moment.ts'
import type { Problem } from '../../protocol/problem.ts'
import type { Seq } from '../../protocol/seq.ts'
import { problemReply, type Reply, type StreamAsk, type StreamRoute } from '../http/route.ts'
import { endpointPlace } from '../http/endpoint-route.ts'
import type { CallerSlots } from '../allowance/caller-slots.ts'
import { CLOCK_TOLERANCE_MS } from '../following/following-limits.ts'
import type { HeadWaits, SeqPlace } from '../following/head-waits.ts'
import { type AdmissionSettings, admit } from './stream-admission.ts'
import type { StreamFraming } from './stream-frame.ts'
import { openHub } from './hub.ts'
import { type StreamLimits, streamLimits } from './limits.ts'
import { openFeedPages } from './feed-pages.ts'
import type { Join, StreamCounts, StreamEnded } from './subscriber.ts'
import { parseSubscription, type Subscription } from './subscription.ts'

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
  /** Receives the milliseconds from an event's moment until all live streams had it, for the oldest of a fan-out. */
  onDelivered?: (ms: number) => void
  /** Called when a stream has ended. */
  ended: (ended: StreamEnded) => void
  /** The waits for a log that this node follows; null or absent on a node that is alone. */
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
  const { reader, slots } = settings
  const hub = openHub({ onDelivered: () => undefined, ...settings, limits })
  const pages = openFeedPages(reader, limits)
  const { now, waits = null } = settings
  const latest = (): Ms => (waits === null ? now() : msOf(now() + CLOCK_TOLERANCE_MS))
  const admission: AdmissionSettings = { reader, slots, limits, latest, follows: waits !== null }
  let draining: Promise<void> | null = null
  const isStopping = (): boolean => draining !== null

  function handle(ask: StreamAsk): Reply | Promise<Reply> {
    const subscription = parseSubscription(ask)
    if (!subscription.ok) return problemReply(subscription.problem)
    if (isStopping()) return problemReply(STOPPING)
    const waited = waitForCursor(ask, subscription.value.after, waits, limits)
    if (waited === undefined) return begin(ask, subscription.value, null)
    return waited.then((place) => {
      if (ask.response.destroyed) return { is: 'taken' }
      return isStopping()
        ? problemReply(STOPPING)
        : begin(ask, subscription.value, place.is === 'nowhere' ? place.head : null)
    })
  }

  /** Answers after the wait for the cursor. `end`: head of the whole log, when that is before the cursor. */
  function begin(ask: StreamAsk, subscription: Subscription, end: Seq | null): Reply {
    const { filter, framing, details } = subscription
    const admitted = admit(admission, ask.caller, subscription, end)
    if (!admitted.ok) return problemReply(admitted.problem)
    const { after, slot } = admitted.value
    const { response, request } = ask
    response.writeHead(200, headersOf(framing))
    if (ask.method === 'HEAD') {
      slot.release()
      response.end()
    } else {
      const feed = pages.feed(filter, framing, details)
      const chunked = request.httpVersion !== '1.0'
      join(hub, { response, socket: request.socket, chunked, feed, slot, after })
    }
    return { is: 'taken' }
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

/** Opens a stream. Releases what it holds if that fails. */
function join(hub: ReturnType<typeof openHub>, stream: Join): void {
  try {
    hub.join(stream)
  } catch (error) {
    stream.feed.close()
    stream.slot.release()
    throw error
  }
}

/** Asks where a cursor is that this node has not reached. Undefined when no wait is needed. */
function waitForCursor(
  { caller, response }: StreamAsk,
  after: Seq | undefined,
  waits: HeadWaits | null,
  { verdictMs: msMax }: StreamLimits,
): Promise<SeqPlace> | undefined {
  if (waits === null || after === undefined || waits.isHere(after)) return undefined
  return waits.wait({ seq: after, caller, msMax, placeOnly: true }, response)
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
