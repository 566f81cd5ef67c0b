import { openFairOrder } from './fair-order.ts'

/** Turns on the serving loop: short synchronous work, in a fair order between callers. */
export type FairTurns = Readonly<{
  /** Runs the work now when nobody waits and the slice is not used up, else in its caller's turn. It must not throw. */
  run(caller: string, work: () => void): void
  /** Pieces of work that wait. */
  waiting(): number
}>

/** Milliseconds of work after which the event loop gets to read from sockets again. */
export const SLICE_MS = 4

/** Opens the turns of one thread; `monotonicMs` times the work. */
export function openFairTurns(monotonicMs: () => number): FairTurns {
  const order = openFairOrder<() => void>(1, monotonicMs)
  let sliceEnd: number | undefined

  function next(): void {
    const until = monotonicMs() + SLICE_MS
    // What arrives during this slice waits for its turn.
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

  /** The event loop comes by once more before `next`: what it reads meanwhile shares this slice. */
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
