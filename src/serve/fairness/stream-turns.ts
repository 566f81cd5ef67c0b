/** Name of a queue: `live` for subscribers at the head, `history` for those that still read older events. */
type QueueName = 'live' | 'history'

/** Two queues of subscribers' turns. Each runs in order, for a limited time in each event-loop iteration. */
export type Turns<T> = Readonly<{
  /** Queues one turn, which never runs within this call. */
  add(who: T, name: QueueName): void
  /** Number of queued turns of a queue. */
  waiting(name: QueueName): number
  /** Drops all queued turns. */
  close(): void
}>

/**
 * Opens the queues of turns. `take` does one short step and may add its subscriber again, at the end of its queue.
 * In each event-loop iteration the live queue runs for its slice of time, then the history queue for its own. So neither
 * starves the other or the rest of the node.
 */
export function openTurns<T>(
  settings: Readonly<{
    monotonicMs: () => number
    sliceMs: Readonly<Record<QueueName, number>>
    take: (who: T, now: number) => void
    /** Called when the live queue has become empty. */
    liveEmptied?: () => void
  }>,
): Turns<T> {
  const queues: Readonly<Record<QueueName, Queue<T>>> = { live: openQueue(), history: openQueue() }
  let due: NodeJS.Immediate | null = null

  function runQueue(name: QueueName): void {
    let now = settings.monotonicMs()
    const until = now + settings.sliceMs[name]
    for (let who = queues[name].shift(); who !== undefined; who = queues[name].shift()) {
      settings.take(who, now)
      now = settings.monotonicMs()
      if (now >= until) return
    }
  }

  function runLive(): void {
    if (queues.live.size() === 0) return
    runQueue('live')
    if (queues.live.size() === 0) settings.liveEmptied?.()
  }

  function run(): void {
    // Cleared first, because `schedule` does nothing while it is set.
    due = null
    try {
      runLive()
      runQueue('history')
    } finally {
      schedule()
    }
  }

  function schedule(): void {
    if (due === null && queues.live.size() + queues.history.size() > 0) due = setImmediate(run)
  }

  return {
    add(who, name) {
      queues[name].push(who)
      schedule()
    },
    waiting: (name) => queues[name].size(),
    close() {
      if (due !== null) clearImmediate(due)
      due = null
      queues.live.clear()
      queues.history.clear()
    },
  }
}

type Queue<T> = Readonly<{
  push(one: T): void
  shift(): T | undefined
  size(): number
  clear(): void
}>

/** Minimum number of taken entries before a queue is compacted. */
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
