import TinyQueue from 'tinyqueue'

/** Work that waits, ordered so that each caller gets an equal share of the time that work takes. */
export type FairOrder<Work> = Readonly<{
  /** Queues work behind the caller's own earlier work. */
  add(caller: string, work: Work): void
  /** Takes the work whose turn it is; undefined when none waits, or only callers who have `atOnce` works out wait. */
  take(): Taken<Work> | undefined
  /** Pieces of work that wait. */
  waiting(): number
}>

/** Work that was taken. Its end must be told, with the milliseconds that it took. */
export type Taken<Work> = Readonly<{ work: Work; ended(tookMs: number): void }>

/** A caller, by the virtual times of start-time fair queueing. */
type Lane<Work> = {
  caller: string
  /** When the time that the caller has used so far is over. */
  finish: number
  /** When, by the clock, its last work ended. */
  endedMs: number
  /** When its next work is to begin; fixed while it stands in the heap. */
  start: number
  /** Counts up: the lane queued last has the highest. */
  queued: number
  waiting: Work[]
  out: number
}

/** Milliseconds of work that a caller is granted for each second by the clock, whatever others do. */
const GRANT_MS_PER_SECOND = 10
/** Callers remembered, before those who have nothing here and whose share is not overdrawn are forgotten. */
const LANES_MAX = 20_000

/**
 * Opens an order by start-time fair queueing (Goyal, Vin and Cheng, 1996): the work whose caller has used the least time
 * comes first. A caller who was idle gains nothing by it, but what it owes is forgiven by and by, at the rate of the grant:
 * in a crowd of a hundred, one page would else shut it out for seconds. Of callers who have used equally little, the one who came last
 * comes first: in a crowd, whoever has waited longest is the likeliest to have left. `atOnce` is how many works of one
 * caller may be out together; `nowMs` is a clock that never steps.
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
    // Its next work waited for this one to end.
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
