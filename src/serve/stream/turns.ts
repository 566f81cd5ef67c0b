/** Subscribers at the head, or those on their way to it. */
export type Lane = 'live' | 'history'

/** Gives everyone who waits a turn, in order, and the event loop back in between. */
export type Turns<T> = Readonly<{
  /** Queues one turn. It never runs within this call. */
  add(who: T, lane: Lane): void
  /** How many turns of a lane are queued. */
  waiting(lane: Lane): number
  /** Drops every turn that is queued. */
  close(): void
}>

/**
 * Opens the queues of turns. `take` does one short step, at the moment `now` of the clock, and may add the same
 * subscriber again: it then waits behind all others of its lane. In one turn of the event loop the live lane has its
 * slice first, then history has its own, so that neither starves the other or the rest of the node.
 */
export function openTurns<T>(
  settings: Readonly<{
    monotonicMs: () => number
    sliceMs: Readonly<Record<Lane, number>>
    take: (who: T, now: number) => void
    /** Called when the last turn of the live lane has been taken. */
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
    // Cleared first: what a step adds, or what is left by one that throws, gets its turn all the same.
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

/** Taken entries that a queue carries along before it is compacted. */
const TAKEN_MAX = 1_024

/** First in, first out. `Array.shift` alone moves every entry, which thousands of subscribers would feel. */
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
