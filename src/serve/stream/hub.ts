import type { Seq } from '../../protocol/seq.ts'
import type { Join, StreamCounts, StreamLevels, Subscriber, StreamWorld } from './subscriber.ts'
import { openFanOuts } from './fan-outs.ts'
import { cut, isDue, openSubscriber, takeTurn } from './subscriber.ts'
import { openTurns } from './turns.ts'

export type HubSettings = Omit<StreamWorld, 'head' | 'counts' | 'timeOver' | 'queue' | 'gone'> &
  Readonly<{
    /** Told of what a read of the store threw; the stream that met it is closed. */
    report: (error: unknown) => void
  }>

export type Hub = Readonly<{
  /** Opens a stream on a response whose head is written. From here on the hub alone ends it. */
  join(join: Join): void
  counts(): Readonly<StreamCounts>
  levels(): StreamLevels
  /** Ends every stream, evenly spread over `overMs`, and settles when the last socket is closed. */
  drain(overMs: number): Promise<void>
  close(): void
}>

/** Opens the place where all streams of this thread live: two queues of turns and one timer for all of them. */
export function openHub(settings: HubSettings): Hub {
  const { reader, limits, monotonicMs } = settings
  const subscribers = new Set<Subscriber>()
  const emptied = Promise.withResolvers<void>()
  let timeOver: 'lifetime' | 'drain' = 'lifetime'
  let shown = reader.head().seq
  // A stream on its way goes by the newest: at the switch nothing may be left that was committed before it.
  const headOf: StreamWorld['head'] = ({ live }) => (live ? shown : reader.head().seq)
  const world: StreamWorld = {
    ...settings,
    head: headOf,
    counts: noCounts(),
    timeOver: () => timeOver,
    queue,
    gone(who) {
      subscribers.delete(who)
      if (subscribers.size === 0 && timeOver === 'drain') emptied.resolve()
    },
  }
  const turns = openTurns<Subscriber>({
    monotonicMs,
    sliceMs: { live: limits.liveSliceMs, history: limits.historySliceMs },
    take: (who, now) => takeOrCut(world, who, now, settings.report),
    liveEmptied: () => fanOuts.ended(),
  })
  const fanOuts = openFanOuts({ monotonicMs, coalesceMs: limits.coalesceMs, fanOut: look })

  function queue(who: Subscriber): void {
    if (who.queued) return
    who.queued = true
    turns.add(who, who.cursor.live ? 'live' : 'history')
  }

  /** Queues whoever has something to do; the work itself is done in turns. Whether anyone live is to be written to. */
  function look(): boolean {
    try {
      shown = reader.head().seq
      const now = monotonicMs()
      for (const who of subscribers) if (isDue(who, now, shown, limits)) queue(who)
    } catch (error) {
      settings.report(error)
    }
    return turns.waiting('live') > 0
  }

  const beat = setInterval(fanOuts.run, limits.beatMs)
  const stopHead = reader.onHead(fanOuts.wake)

  return {
    join: (join) => subscribers.add(openSubscriber(world, join)),
    counts: () => ({ ...world.counts, closed: { ...world.counts.closed } }),
    levels: () => levelsOf(subscribers, reader.head().seq),
    drain(overMs) {
      timeOver = 'drain'
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

/** Gives a subscriber its turn; a read of the store that throws ends this stream and no other. */
function takeOrCut(world: StreamWorld, who: Subscriber, now: number, report: HubSettings['report']): void {
  who.queued = false
  try {
    takeTurn(world, who, now)
  } catch (error) {
    report(error)
    cut(world, who, 'error')
  }
}

/** Clients that all come back at once would be a storm: they are sent away one by one. */
function spreadEnds(subscribers: ReadonlySet<Subscriber>, now: number, overMs: number): void {
  for (const [index, who] of [...subscribers].entries()) {
    if (!who.ended) who.endsAt = Math.min(who.endsAt, now + (overMs * index) / subscribers.size)
  }
}

function levelsOf(subscribers: Iterable<Subscriber>, head: Seq): StreamLevels {
  let behind = 0
  let heldBytes = 0
  for (const who of subscribers) {
    heldBytes += who.socket.writableLength
    if (!who.ended && who.cursor.seq < head) behind += 1
  }
  return { behind, heldBytes }
}

function noCounts(): StreamCounts {
  return {
    clients: 0,
    opened: 0,
    closed: { client: 0, lifetime: 0, slow: 0, drain: 0, error: 0 },
    eventsSent: 0,
    bytesSent: 0,
  }
}
