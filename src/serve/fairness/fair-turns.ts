import TinyQueue from 'tinyqueue'

/** Waiting work, ordered so that each caller gets an equal share of the time. */
type FairOrder<Work> = Readonly<{
  /** Queues work after the caller's earlier work. */
  add(caller: string, work: Work): void
  /**
   * Takes the next work. Undefined if none waits, or if all waiting callers have `atOnce` pieces of work in progress.
   */
  take(): Started<Work> | undefined
  /** Number of pieces of work that wait. */
  waiting(): number
  /** Number of callers whose use of time is remembered. */
  remembered(): number
}>

/** Work in progress. Its end must be reported once, with its duration in milliseconds. */
type Started<Work> = Readonly<{ work: Work; ended(tookMs: number): void }>

/** The work of one caller, by the virtual times of start-time fair queueing. */
type CallerQueue<Work> = {
  readonly waiting: Work[]
  /** Number of its pieces of work in progress. */
  out: number
  /** Virtual time at which the caller's work so far ends. */
  finish: number
  /** Clock time at which its last work ended. */
  endedMs: number
  /** Virtual time at which its next work begins; fixed while it is in the heap. */
  start: number
  /** Sequence number; the queue that entered the heap last has the highest one. */
  queued: number
}

/** Milliseconds of work that each caller is granted per second of clock time. */
const GRANT_MS_PER_SECOND = 10
/**
 * Number of remembered callers from which idle callers without a debt are removed. Few idle callers have a debt. The
 * grant pays it in a hundred times the time that they used. So there are about a hundred such callers for each piece of
 * work in progress.
 */
const QUEUES_MAX = 20_000

/**
 * Opens an order by start-time fair queueing (Goyal, Vin and Cheng, 1996). The work of the caller that has used the
 * least time comes first. An idle caller gains no credit, but its debt shrinks at the rate of the grant. Otherwise one
 * page could exclude it for seconds in a crowd of a hundred. Among callers with equal use the newest comes first,
 * because the one that has waited longest has most probably left. `atOnce` limits the work of one caller in progress;
 * `nowMs` is a monotonic clock.
 */
export function openFairOrder<Work>(atOnce: number, nowMs: () => number): FairOrder<Work> {
  const queues = new Map<string, CallerQueue<Work>>()
  const heap = new TinyQueue<CallerQueue<Work>>([], (a, b) => a.start - b.start || b.queued - a.queued)
  let forgetAt = QUEUES_MAX
  let virtualNow = 0
  let lastQueued = 0
  let waiting = 0
  let out = 0

  /** Virtual time at which new work of a caller begins: later than now while it has a debt. */
  function startOf({ finish, endedMs }: CallerQueue<Work>, now: number): number {
    return Math.max(virtualNow, finish - ((now - endedMs) / 1_000) * GRANT_MS_PER_SECOND)
  }

  function enqueue(queue: CallerQueue<Work>): void {
    queue.start = startOf(queue, nowMs())
    queue.queued = ++lastQueued
    heap.push(queue)
  }

  /** Removes idle callers without a debt, for which a new queue would be the same. */
  function forgetPaid(): void {
    const now = nowMs()
    for (const [caller, queue] of queues) {
      const isIdle = queue.out === 0 && queue.waiting.length === 0
      if (isIdle && startOf(queue, now) === virtualNow) queues.delete(caller)
    }
    // Waiting callers cannot be removed, so the next search is when the number has doubled.
    forgetAt = Math.max(QUEUES_MAX, queues.size * 2)
  }

  function end(queue: CallerQueue<Work>, tookMs: number): void {
    queue.finish += tookMs
    queue.endedMs = nowMs()
    // The caller's next work was waiting for this one to end.
    if (queue.out === atOnce && queue.waiting.length > 0) enqueue(queue)
    queue.out -= 1
    out -= 1
    if (out > 0 || waiting > 0) return
    queues.clear()
    forgetAt = QUEUES_MAX
    virtualNow = 0
  }

  return {
    add(caller, work) {
      let queue = queues.get(caller)
      if (queue === undefined) {
        if (queues.size >= forgetAt) forgetPaid()
        const now = { finish: virtualNow, start: virtualNow, endedMs: nowMs() }
        queue = { waiting: [], out: 0, queued: 0, ...now }
        queues.set(caller, queue)
      }
      queue.waiting.push(work)
      waiting += 1
      if (queue.waiting.length === 1 && queue.out < atOnce) enqueue(queue)
    },
    take() {
      const queue = heap.pop()
      const work = queue?.waiting.shift()
      if (queue === undefined || work === undefined) return undefined
      virtualNow = Math.max(virtualNow, queue.start)
      if (queue.out === 0) queue.finish = queue.start
      queue.out += 1
      out += 1
      waiting -= 1
      if (queue.waiting.length > 0 && queue.out < atOnce) enqueue(queue)
      return { work, ended: (tookMs) => end(queue, tookMs) }
    },
    waiting: () => waiting,
    remembered: () => queues.size,
  }
}

/** Limited places for work in other threads, in a fair order between callers. */
type FairPlaces = Readonly<{
  /** Runs the work in the caller's turn when a place is free. Settles as the work does. */
  run<T>(caller: string, work: () => Promise<Timed<T>>): Promise<T>
  /** Number of pieces of work that wait for a place. */
  waiting(): number
}>

/** Result of work, and the milliseconds of CPU time charged to its caller. */
export type Timed<T> = Readonly<{ value: T; tookMs: number }>

/** Opens the places. One caller never takes the last of several, so that another caller does not wait for it alone. */
export function openFairPlaces(places: number, monotonicMs: () => number): FairPlaces {
  const order = openFairOrder<() => Promise<number>>(Math.max(1, places - 1), monotonicMs)
  let free = places

  function fill(): void {
    while (free > 0) {
      const started = order.take()
      if (started === undefined) return
      free -= 1
      void started.work().then((tookMs) => {
        free += 1
        started.ended(tookMs)
        fill()
      })
    }
  }

  return {
    run(caller, work) {
      return new Promise((resolve, reject) => {
        order.add(caller, async () => {
          try {
            const { value, tookMs } = await work()
            resolve(value)
            return tookMs
          } catch (error) {
            reject(error)
            return 0
          }
        })
        fill()
      })
    },
    waiting: order.waiting,
  }
}

/** Turns on the serving loop: short synchronous work, in a fair order between callers. */
type FairTurns = Readonly<{
  /**
   * Runs the work now if nobody waits and time is left in the slice, otherwise in its caller's turn. It must not throw.
   */
  run(caller: string, work: () => void): void
  /** Number of pieces of work that wait. */
  waiting(): number
}>

/** Milliseconds of work before the event loop reads from sockets again. */
export const SLICE_MS = 4

/** Opens the turns of one thread. `monotonicMs` measures the work. */
export function openFairTurns(monotonicMs: () => number): FairTurns {
  const order = openFairOrder<() => void>(1, monotonicMs)
  let sliceEnd: number | undefined

  function next(): void {
    const until = monotonicMs() + SLICE_MS
    // Work that arrives during this slice waits for its turn.
    sliceEnd = 0
    for (let now = until - SLICE_MS; now < until;) {
      const started = order.take()
      if (started === undefined) break
      started.work()
      const ended = monotonicMs()
      started.ended(ended - now)
      now = ended
    }
    sliceEnd = undefined
    if (order.waiting() > 0) begin(0)
  }

  /** Schedules a slice. Requests that the event loop reads before it begins share it. */
  function begin(end: number): void {
    sliceEnd = end
    setImmediate(next)
  }

  return {
    run(caller, work) {
      const now = monotonicMs()
      if (sliceEnd === undefined) begin(now + SLICE_MS)
      if (order.waiting() === 0 && now < (sliceEnd ?? 0)) work()
      else order.add(caller, work)
    },
    waiting: order.waiting,
  }
}
