import { openFairOrder } from './fair-order.ts'

/** A few places at which work is done elsewhere, in a fair order between callers. */
export type FairPlaces = Readonly<{
  /** Runs the work when a place is free and it is the caller's turn; settles as the work does. */
  run<T>(caller: string, work: () => Promise<T>): Promise<T>
  /** Pieces of work that wait for a place. */
  waiting(): number
}>

/**
 * Opens the places. Where there is more than one, one caller never takes the last: whoever else comes finds it free, or
 * in use by somebody else.
 */
export function openFairPlaces(places: number, monotonicMs: () => number): FairPlaces {
  const order = openFairOrder<() => Promise<void>>(Math.max(1, places - 1))
  let free = places

  function fill(): void {
    while (free > 0) {
      const taken = order.take()
      if (taken === undefined) return
      free -= 1
      const startedMs = monotonicMs()
      void taken.work().then(() => {
        free += 1
        taken.ended(monotonicMs() - startedMs)
        fill()
      })
    }
  }

  return {
    run(caller, work) {
      return new Promise((resolve, reject) => {
        order.add(caller, async () => {
          try {
            resolve(await work())
          } catch (error) {
            reject(error)
          }
        })
        fill()
      })
    },
    waiting: order.waiting,
  }
}
