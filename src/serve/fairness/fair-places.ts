import { openFairOrder } from './fair-order.ts'

/** A few places for work in other threads, in a fair order between callers. */
type FairPlaces = Readonly<{
  /** Runs the work when a place is free and it is the caller's turn; settles as the work does. */
  run<T>(caller: string, work: () => Promise<Timed<T>>): Promise<T>
  /** Number of pieces of work that wait for a place. */
  waiting(): number
}>

/** Result of work, and the milliseconds of processor time that its caller is charged. */
export type Timed<T> = Readonly<{ value: T; tookMs: number }>

/**
 * Opens the places. If there are several, one caller never takes the last one, so another caller never waits for that
 * caller alone.
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
