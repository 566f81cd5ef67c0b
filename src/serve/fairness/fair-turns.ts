import { openFairOrder } from './fair-order.ts'

/** Turns on the serving loop: short synchronous work, in a fair order between callers. */
type FairTurns = Readonly<{
  /**
   * Runs the work now if nobody waits and the slice is not used up, otherwise in its caller's turn. It must not throw.
   */
  run(caller: string, work: () => void): void
  /** Number of pieces of work that wait. */
  waiting(): number
}>

/** Milliseconds of work after which the event loop reads from sockets again. */
export const SLICE_MS = 4

/** Opens the turns of one thread; `monotonicMs` measures the work. */
export function openFairTurns(monotonicMs: () => number): FairTurns {
  const order = openFairOrder<() => void>(1, monotonicMs)
  let sliceEnd: number | undefined

  function next(): void {
    const until = monotonicMs() + SLICE_MS
    // Work that arrives during this slice waits for its turn.
    sliceEnd = 0
    for (let now = until - SLICE_MS; now < until;) {
      const taken = order.take()
      if (taken === undefined) break
      taken.work()
      const ended = monotonicMs()
      taken.ended(ended - now)
      now = ended
    }
    sliceEnd = undefined
    if (order.waiting() > 0) begin(0)
  }

  /** Schedules a slice. What the event loop reads before it begins shares it. */
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
