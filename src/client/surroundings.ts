/** What a client uses of whatever runs it. All of it can be handed in: a test has a clock of its own. */
export type Surroundings = Readonly<{
  fetch: (url: string, init: RequestInit) => Promise<Response>
  /** A clock that never steps, in milliseconds. */
  now: () => number
  /** Settles after so many milliseconds; rejects with the signal's reason as soon as that is aborted. */
  sleep: (ms: number, signal?: AbortSignal) => Promise<void>
  /** From 0 inclusive to 1 exclusive. */
  random: () => number
}>

/** The clock, timers, chance and `fetch` that every browser and server runtime has. */
export const SURROUNDINGS: Surroundings = {
  // Called as a method: a browser refuses a bare `fetch` whose `this` is another object.
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
