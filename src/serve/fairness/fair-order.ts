import TinyQueue from 'tinyqueue'

/** Waiting work, ordered so that each caller gets an equal share of the time. */
type FairOrder<Work> = Readonly<{
  /** Queues work after the caller's earlier work. */
  add(caller: string, work: Work): void
  /**
   * Takes the next work; undefined if none waits, or if all waiting callers have `atOnce` pieces of work in progress.
   */
  take(): Taken<Work> | undefined
  /** Number of pieces of work that wait. */
  waiting(): number
  /** Number of callers whose use of time is remembered. */
  remembered(): number
}>

/** Work in progress. Its end must be reported with the milliseconds that it took. */
type Taken<Work> = Readonly<{ work: Work; ended(tookMs: number): void }>

/** A caller, by the virtual times of start-time fair queueing. */
type Lane<Work> = {
  caller: string
  /** Virtual time at which the caller's work so far ends. */
  finish: number
  /** Clock time at which its last work ended. */
  endedMs: number
  /** Virtual time at which its next work begins; fixed while it is in the heap. */
  start: number
  /** Sequence number; the lane queued last has the highest one. */
  queued: number
  waiting: Work[]
  out: number
}

/** Milliseconds of work that each caller is granted per second of clock time. */
const GRANT_MS_PER_SECOND = 10
/**
 * Number of callers that are remembered before idle callers without a debt are forgotten. Few callers are idle and have
 * a debt: the grant pays it in a hundred times the time that they used, so on average there are a hundred for each
 * piece of work in progress.
 */
const LANES_MAX = 20_000

/**
 * Opens an order by start-time fair queueing (Goyal, Vin and Cheng, 1996). The work whose caller has used the least
 * time comes first. An idle caller gains no credit, but its debt shrinks at the rate of the grant: otherwise one page
 * could exclude it for seconds in a crowd of a hundred. Among callers with equal use the newest comes first, because
 * the one that has waited longest is the most likely to have left. `atOnce` limits the work of one caller in progress;
 * `nowMs` is a monotonic clock.
 */
export function openFairOrder<Work>(atOnce: number, nowMs: () => number): FairOrder<Work> {
  const lanes = openLanes<Work>(nowMs)
  const heap = new TinyQueue<Lane<Work>>([], (a, b) => a.start - b.start || b.queued - a.queued)
  let virtualNow = 0
  let lastQueued = 0
  let waiting = 0
  let out = 0

  function queue(lane: Lane<Work>): void {
    lane.start = startOf(lane, virtualNow, nowMs())
    lane.queued = ++lastQueued
    heap.push(lane)
  }

  function end(lane: Lane<Work>, tookMs: number): void {
    lane.finish += tookMs
    lane.endedMs = nowMs()
    // The caller's next work has waited for this one to end.
    if (lane.out === atOnce && lane.waiting.length > 0) queue(lane)
    lane.out -= 1
    out -= 1
    if (out > 0 || waiting > 0) return
    lanes.clear()
    virtualNow = 0
  }

  return {
    add(caller, work) {
      const lane = lanes.of(caller, virtualNow)
      lane.waiting.push(work)
      waiting += 1
      if (lane.waiting.length === 1 && lane.out < atOnce) queue(lane)
    },
    take() {
      const lane = heap.pop()
      const work = lane?.waiting.shift()
      if (lane === undefined || work === undefined) return undefined
      virtualNow = Math.max(virtualNow, lane.start)
      if (lane.out === 0) lane.finish = lane.start
      lane.out += 1
      out += 1
      waiting -= 1
      if (lane.waiting.length > 0 && lane.out < atOnce) queue(lane)
      let over = false
      return {
        work,
        ended(tookMs) {
          if (over) return
          over = true
          end(lane, tookMs)
        },
      }
    },
    waiting: () => waiting,
    remembered: lanes.size,
  }
}

type Lanes<Work> = Readonly<{
  /** The lane of a caller; a new one begins at this virtual time. */
  of(caller: string, virtualNow: number): Lane<Work>
  size(): number
  clear(): void
}>

/** Opens the lanes of callers. A lane is forgotten only if a new one would be the same. */
function openLanes<Work>(nowMs: () => number): Lanes<Work> {
  const lanes = new Map<string, Lane<Work>>()
  let forgetAt = LANES_MAX

  function forgetPaid(virtualNow: number): void {
    const now = nowMs()
    for (const [caller, lane] of lanes)
      if (isIdle(lane) && startOf(lane, virtualNow, now) === virtualNow) lanes.delete(caller)
    // Waiting callers cannot be forgotten, so the next search is when the rest has doubled.
    forgetAt = Math.max(LANES_MAX, lanes.size * 2)
  }

  return {
    of(caller, virtualNow) {
      const known = lanes.get(caller)
      if (known !== undefined) return known
      if (lanes.size >= forgetAt) forgetPaid(virtualNow)
      const none = { waiting: [], out: 0, queued: 0, endedMs: nowMs() }
      const lane: Lane<Work> = { caller, finish: virtualNow, start: virtualNow, ...none }
      lanes.set(caller, lane)
      return lane
    },
    size: () => lanes.size,
    clear() {
      lanes.clear()
      forgetAt = LANES_MAX
    },
  }
}

/** Virtual time at which new work of an idle caller begins: later than now while it has a debt. */
function startOf({ finish, endedMs }: Lane<unknown>, virtualNow: number, now: number): number {
  return Math.max(virtualNow, finish - ((now - endedMs) / 1_000) * GRANT_MS_PER_SECOND)
}

function isIdle({ out, waiting }: Lane<unknown>): boolean {
  return out === 0 && waiting.length === 0
}
