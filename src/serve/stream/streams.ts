import type { LogReader } from '../../log/store/reader.ts'
import type { Ms } from '../../protocol/moment.ts'
import type { Problem } from '../../protocol/problem.ts'
import type { Reply, StreamAsk, StreamRoute } from '../http/route.ts'
import { endpointPlace } from '../http/endpoint-route.ts'
import { problemReply } from '../http/route.ts'
import type { CallerSlots } from '../allowance/caller-slots.ts'
import type { AdmissionSettings } from './stream-admission.ts'
import { admit } from './stream-admission.ts'
import type { StreamFraming } from './stream-frame.ts'
import { openHub } from './hub.ts'
import type { StreamLimits } from './limits.ts'
import { streamLimits } from './limits.ts'
import { openFeedPages } from './feed-pages.ts'
import type { Join, StreamCounts, StreamEnded } from './subscriber.ts'
import { parseSubscription } from './subscription.ts'

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
  const admission: AdmissionSettings = { reader, slots, limits, now: settings.now }
  let draining: Promise<void> | null = null
  const isStopping = (): boolean => draining !== null

  function join(stream: Join): void {
    try {
      hub.join(stream)
    } catch (error) {
      stream.feed.close()
      stream.slot.release()
      throw error
    }
  }

  function handle(ask: StreamAsk): Reply {
    const subscription = parseSubscription(ask)
    if (!subscription.ok) return problemReply(subscription.problem)
    if (isStopping()) return problemReply(STOPPING)
    const { socket } = ask.request
    const { filter, framing, details } = subscription.value
    const admitted = admit(admission, ask.caller, subscription.value)
    if (!admitted.ok) return problemReply(admitted.problem)
    const { after, slot } = admitted.value
    ask.response.writeHead(200, headersOf(framing))
    if (ask.method === 'GET') {
      const chunked = ask.request.httpVersion !== '1.0'
      const feed = pages.feed(filter, framing, details)
      join({ response: ask.response, socket, chunked, feed, slot, after })
    } else {
      slot.release()
      ask.response.end()
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
