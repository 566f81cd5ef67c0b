/** Time whose requests may be sent at once. */
const BURST_MS = 5_000
const MINUTE_MS = 60_000

/** Waits before a request of this many calls to the server with this number, so that a `spend` of a client can use it. */
type RequestPace = (calls: number, url: number) => Promise<void>

/** Spreads the calls to each server evenly over time, `perMinute` at most. A few may be sent at once. */
export function openRequestPace(
  perMinute: number,
  now: () => number,
  sleep: (ms: number) => Promise<void>,
): RequestPace {
  const freeAt = new Map<number, number>()
  return async (calls, url) => {
    const at = Math.max(now(), freeAt.get(url) ?? 0)
    freeAt.set(url, at + (calls * MINUTE_MS) / perMinute)
    const waitMs = at - now() - BURST_MS
    if (waitMs > 0) await sleep(waitMs)
  }
}
