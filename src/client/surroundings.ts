/** Functions of the runtime that a client uses. Tests pass their own clock. */
export type Surroundings = Readonly<{
  fetch: (url: string, init: RequestInit) => Promise<Response>
  /** Monotonic clock, in milliseconds. */
  now: () => number
  /** Resolves after this many milliseconds; rejects with the signal's reason on abort. */
  sleep: (ms: number, signal?: AbortSignal) => Promise<void>
  /** Random number from 0 inclusive to 1 exclusive. */
  random: () => number
}>

/** Clock, timers, randomness and `fetch` of every browser and server runtime. */
export const SURROUNDINGS: Surroundings = {
  // A browser refuses `fetch` when its `this` is another object.
  fetch: (url, init) => globalThis.fetch(url, init),
  now: () => performance.now(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      const stop = (): void => {
        clearTimeout(timer)
        reject(signal?.reason)
      }
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', stop)
        resolve()
      }, ms)
      if (signal?.aborted === true) stop()
      else signal?.addEventListener('abort', stop, { once: true })
    }),
  random: () => Math.random(),
}
