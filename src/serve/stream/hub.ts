import type { Seq } from '../../protocol/seq.ts'
import {
  disconnect,
  isDue,
  type Join,
  openSubscriber,
  type StreamContext,
  type StreamCounts,
  type StreamLevels,
  type Subscriber,
  takeTurn,
} from './subscriber.ts'
import { openDeliveryLag } from './delivery-lag.ts'
import { openFanOuts } from './fan-outs.ts'
import { openStallWatch } from '../request/stall-watch.ts'
import { openTurns } from '../fairness/lane-turns.ts'

/** Looks for bytes that a waiting client has taken, in the time after which it counts as stalled. */
const LOOKS = 3

type HubSettings = Omit<StreamContext, 'head' | 'counts' | 'endReason' | 'queue' | 'gone'> &
  Readonly<{
    /** Receives an error thrown by a read of the store. The stream that read is closed. */
    report: (error: unknown) => void
    /** Receives the milliseconds from an event's moment until all live streams had it, for the oldest event sent. */
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
export function openHub(settings: HubSettings): Hub {
  const { reader, limits, monotonicMs } = settings
  const subscribers = new Set<Subscriber>()
  const emptied = Promise.withResolvers<void>()
  let endReason: 'lifetime' | 'drain' = 'lifetime'
  let fannedOutTo = reader.head().seq
  // A stream in history needs the newest head: it must not go live while an older event is unsent.
  const headOf: StreamContext['head'] = ({ live }) => (live ? fannedOutTo : reader.head().seq)
  const context: StreamContext = {
    ...settings,
    head: headOf,
    counts: noCounts(),
    endReason: () => endReason,
    queue,
    gone(subscriber) {
      subscribers.delete(subscriber)
      if (subscribers.size === 0 && endReason === 'drain') emptied.resolve()
    },
  }
  const lag = openDeliveryLag(settings)
  const turns = openTurns<Subscriber>({
    monotonicMs,
    sliceMs: { live: limits.liveSliceMs, history: limits.historySliceMs },
    take: (subscriber, now) => takeTurnSafely(context, subscriber, now, settings.report),
    liveEmptied: () => [lag, fanOuts].forEach((one) => one.ended()),
  })
  const fanOuts = openFanOuts({ monotonicMs, coalesceMs: limits.coalesceMs, fanOut: queueDue })

  function queue(subscriber: Subscriber): void {
    if (subscriber.queued) return
    subscriber.queued = true
    turns.add(subscriber, subscriber.cursor.live ? 'live' : 'history')
  }

  /** Queues the streams that have something to do. Returns whether a live stream is queued. */
  function queueDue(): boolean {
    try {
      fannedOutTo = reader.head().seq
      const now = monotonicMs()
      for (const subscriber of subscribers) if (isDue(subscriber, now, fannedOutTo, limits)) queue(subscriber)
      lag.begun(fannedOutTo, turns.waiting('live') > 0)
    } catch (error) {
      settings.report(error)
    }
    return turns.waiting('live') > 0
  }

  const look = openLook(subscribers, settings)
  const beat = setInterval(() => [fanOuts.run, look].forEach((each) => each()), limits.tickMs)
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

/** Opens the look for bytes that waiting clients have taken. */
function openLook(
  subscribers: Iterable<Subscriber>,
  { limits, monotonicMs, report }: HubSettings,
): () => void {
  const watch = openStallWatch<Subscriber>(limits.stallMs / LOOKS, ({ socket }) => socket)
  return () => void watch(subscribers, monotonicMs()).catch(report)
}

/** Gives a subscriber its turn. When a read of the store throws, only this stream ends. */
function takeTurnSafely(
  context: StreamContext,
  subscriber: Subscriber,
  now: number,
  report: HubSettings['report'],
): void {
  subscriber.queued = false
  try {
    takeTurn(context, subscriber, now)
  } catch (error) {
    report(error)
    disconnect(context, subscriber, 'error')
  }
}

/** Spreads the ends of all streams over `overMs`, so that clients do not reconnect all at once. */
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
