import { openFairOrder } from './fair-order.ts'

/** A few places at which work is done elsewhere, in a fair order between callers. */
export type FairPlaces = Readonly<{
  /** Runs the work when a place is free and it is the caller's turn; settles as the work does. */
  run<T>(caller: string, work: () => Promise<Timed<T>>): Promise<T>
  /** Pieces of work that wait for a place. */
  waiting(): number
}>

/** What work has made, and the milliseconds that its caller is charged for it: of a processor, not of the clock. */
export type Timed<T> = Readonly<{ value: T; tookMs: number }>

/**
 * Opens the places. Where there is more than one, one caller never takes the last: whoever else comes finds it free, or
 * in use by somebody else.
 */
export function openFairPlaces(places: number, monotonicMs: () => number): FairPlaces {
  const order = openFairOrder<() => Promise<number>>(Math.max(1, places - 1), monotonicMs)
  let free = places

  function fill(): void {
    while (free > 0) {
      const taken = order.take()
      if (taken === undefined) return
      free -= 1
      void taken.work().then((tookMs) => {
        free += 1
        taken.ended(tookMs)
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
