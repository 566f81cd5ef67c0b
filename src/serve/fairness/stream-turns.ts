/** Name of a queue: `live` for subscribers at the head, `history` for those that still read older events. */
type QueueName = 'live' | 'history'

/** Two queues of subscribers' turns. Each runs in order, for a limited time in each iteration of the event loop. */
export type Turns<T> = Readonly<{
  /** Queues a turn, unless one is queued. The turn never runs within this call. */
  add(who: T, name: QueueName): void
  /** Number of queued turns of a queue. */
  waiting(name: QueueName): number
  /** Drops all queued turns. */
  close(): void
}>

/**
 * Opens the queues of turns. `take` does one short step and may add its subscriber again at the end. In each iteration
 * of the event loop the live queue runs for its slice of time, then the history queue for its own. So neither starves
 * the other or the rest of the node.
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
  const queues: Readonly<Record<QueueName, Set<T>>> = { live: new Set(), history: new Set() }
  let due: NodeJS.Immediate | null = null

  function runQueue(name: QueueName): void {
    let now = settings.monotonicMs()
    const until = now + settings.sliceMs[name]
    for (const who of queues[name]) {
      queues[name].delete(who)
      settings.take(who, now)
      now = settings.monotonicMs()
      if (now >= until) return
    }
  }

  function run(): void {
    // Cleared first, because `schedule` does nothing while it is set.
    due = null
    try {
      if (queues.live.size > 0) {
        runQueue('live')
        if (queues.live.size === 0) settings.liveEmptied?.()
      }
      runQueue('history')
    } finally {
      schedule()
    }
  }

  function schedule(): void {
    if (due === null && queues.live.size + queues.history.size > 0) due = setImmediate(run)
  }

  return {
    add(who, name) {
      queues[name].add(who)
      schedule()
    },
    waiting: (name) => queues[name].size,
    close() {
      if (due !== null) clearImmediate(due)
      due = null
      queues.live.clear()
      queues.history.clear()
    },
  }
}
