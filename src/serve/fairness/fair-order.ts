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
/** Number of callers that are remembered before idle callers without a debt are forgotten. */
const LANES_MAX = 20_000

/**
 * Opens an order by start-time fair queueing (Goyal, Vin and Cheng, 1996). The work whose caller has used the least
 * time comes first. An idle caller gains no credit, but its debt shrinks at the rate of the grant: otherwise one page
 * could exclude it for seconds in a crowd of a hundred. Among callers with equal use the newest comes first, because
 * the one that has waited longest is the most likely to have left. `atOnce` limits the work of one caller in progress;
 * `nowMs` is a monotonic clock.
 */
export function openFairOrder<Work>(atOnce: number, nowMs: () => number): FairOrder<Work> {
  const lanes = new Map<string, Lane<Work>>()
  const heap = new TinyQueue<Lane<Work>>([], (a, b) => a.start - b.start || b.queued - a.queued)
  let virtualNow = 0
  let lastQueued = 0
  let waiting = 0
  let out = 0

  function queue(lane: Lane<Work>): void {
    const grantedMs = ((nowMs() - lane.endedMs) / 1_000) * GRANT_MS_PER_SECOND
    lane.start = Math.max(virtualNow, lane.finish - grantedMs)
    lane.queued = ++lastQueued
    heap.push(lane)
  }

  function laneOf(caller: string): Lane<Work> {
    const known = lanes.get(caller)
    if (known !== undefined) return known
    if (lanes.size >= LANES_MAX) forgetIdle()
    const none = { waiting: [], out: 0, queued: 0, endedMs: nowMs() }
    lanes.set(caller, { caller, finish: virtualNow, start: virtualNow, ...none })
    return laneOf(caller)
  }

  function forgetIdle(): void {
    for (const [caller, lane] of lanes) if (isIdle(lane) && lane.finish <= virtualNow) lanes.delete(caller)
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
      const lane = laneOf(caller)
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
  }
}

function isIdle({ out, waiting }: Lane<unknown>): boolean {
  return out === 0 && waiting.length === 0
}
