/** Queue of the subscribers at the head, or of those that still read history. */
export type Lane = 'live' | 'history'

/** Queues of turns, run in order in slices of the event loop. */
export type Turns<T> = Readonly<{
  /** Queues one turn, which never runs within this call. */
  add(who: T, lane: Lane): void
  /** Number of queued turns of a lane. */
  waiting(lane: Lane): number
  /** Drops all queued turns. */
  close(): void
}>

/**
 * Opens the queues of turns. `take` does one short step and may add its subscriber again, at the end of its lane.
 * In each turn of the event loop the live lane runs for its slice, then history for its own. So neither lane starves
 * the other or the rest of the node.
 */
export function openTurns<T>(
  settings: Readonly<{
    monotonicMs: () => number
    sliceMs: Readonly<Record<Lane, number>>
    take: (who: T, now: number) => void
    /** Called when the live lane has become empty. */
    liveEmptied?: () => void
  }>,
): Turns<T> {
  const lanes: Readonly<Record<Lane, Queue<T>>> = { live: openQueue(), history: openQueue() }
  let due: NodeJS.Immediate | null = null

  function runLane(lane: Lane): void {
    let now = settings.monotonicMs()
    const until = now + settings.sliceMs[lane]
    for (let who = lanes[lane].shift(); who !== undefined; who = lanes[lane].shift()) {
      settings.take(who, now)
      now = settings.monotonicMs()
      if (now >= until) return
    }
  }

  function runLive(): void {
    if (lanes.live.size() === 0) return
    runLane('live')
    if (lanes.live.size() === 0) settings.liveEmptied?.()
  }

  function run(): void {
    // Cleared first, so that turns added by a step, or left over when a step throws, are scheduled.
    due = null
    try {
      runLive()
      runLane('history')
    } finally {
      schedule()
    }
  }

  function schedule(): void {
    if (due === null && lanes.live.size() + lanes.history.size() > 0) due = setImmediate(run)
  }

  return {
    add(who, lane) {
      lanes[lane].push(who)
      schedule()
    },
    waiting: (lane) => lanes[lane].size(),
    close() {
      if (due !== null) clearImmediate(due)
      due = null
      lanes.live.clear()
      lanes.history.clear()
    },
  }
}

type Queue<T> = Readonly<{
  push(one: T): void
  shift(): T | undefined
  size(): number
  clear(): void
}>

/** Number of taken entries after which a queue is compacted. */
const TAKEN_MAX = 1_024

/** Opens a FIFO queue. `Array.shift` would move all entries, which is slow with thousands of subscribers. */
function openQueue<T>(): Queue<T> {
  let entries: T[] = []
  let taken = 0
  return {
    push: (one) => {
      entries.push(one)
    },
    shift() {
      const one = entries[taken]
      if (taken < entries.length) taken += 1
      if (taken === entries.length || taken > Math.max(TAKEN_MAX, entries.length / 2)) {
        entries = entries.slice(taken)
        taken = 0
      }
      return one
    },
    size: () => entries.length - taken,
    clear() {
      entries = []
      taken = 0
    },
  }
}
