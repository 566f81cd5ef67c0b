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
import { openPages } from './feed-pages.ts'
import type { Join, StreamCounts } from './subscriber.ts'
import { parseSubscription } from './subscription.ts'

export type StreamSettings = Readonly<{
  reader: LogReader
  slots: Pick<CallerSlots, 'take' | 'limits'>
  /** The wall clock: the `at` of a position. */
  now: () => Ms
  /** A clock that never steps, in milliseconds: silences, stalls and lifetimes. */
  monotonicMs: () => number
  /** From 0 inclusive to 1 exclusive: retry times and lifetimes. */
  random: () => number
  /** Told of what a read of the store threw. */
  report: (error: unknown) => void
  /** Whether this node follows another's log; a node that does not never lets a cursor ahead of its head wait. */
  follows?: () => boolean
  limits?: Partial<StreamLimits>
}>

/** The streams of one thread. Disposing drains them over `drainMs`. */
export type Streams = AsyncDisposable &
  Readonly<{
    routes: readonly StreamRoute[]
    counts(): Readonly<StreamCounts>
    /** Streams on their way to the head. */
    behind(): number
    /** Bytes that sockets hold because the kernel has not taken them. */
    heldBytes(): number
    /** Refuses new streams and ends those that are open, spread over `overMs`. Settles when none is left. */
    drain(overMs?: number): Promise<void>
  }>

/** Opens `/api/v1/stream` on a log. */
export function openStreams(settings: StreamSettings): Streams {
  const limits = streamLimits(settings.limits)
  const { reader, slots, follows = () => false } = settings
  const hub = openHub({ ...settings, limits })
  const pages = openPages(reader, limits)
  const admission: AdmissionSettings = { reader, slots, limits, follows }
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

  async function handle(ask: StreamAsk): Promise<Reply> {
    const subscription = parseSubscription(ask)
    if (!subscription.ok) return problemReply(subscription.problem)
    if (isStopping()) return problemReply(STOPPING)
    const { socket } = ask.request
    const { filter, framing } = subscription.value
    const admitted = await admit(admission, ask.caller, subscription.value, socket)
    if (!admitted.ok) return problemReply(admitted.problem)
    const { after, slot } = admitted.value
    // Asked again: a cursor that waited for the head may have waited until now.
    if (isStopping()) {
      slot.release()
      return problemReply(STOPPING)
    }
    ask.response.writeHead(200, headersOf(framing))
    if (ask.method === 'GET') {
      const chunked = ask.request.httpVersion !== '1.0'
      join({ response: ask.response, socket, chunked, feed: pages.feed(filter, framing), slot, after })
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
    routes: [{ ...endpointPlace('stream'), streaming: true, handle }],
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
