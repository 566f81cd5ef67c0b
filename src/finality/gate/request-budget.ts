import { assert } from '../../protocol/brand.ts'

/** Windows of a minute. Each has an equal share of the budget, so that no burst blocks the rest of the minute. */
const WINDOWS = 6
const WINDOW_MS: number = 60_000 / WINDOWS

/** Requests a minute at least: a batch must fit into one window. */
export const REQUESTS_A_MINUTE_MIN = 60

/** Requests to one server, bounded in every minute. Moments are those of a monotonic clock in milliseconds. */
type RequestBudget = Readonly<{
  /** Most requests that can be sent at once. */
  burst: number
  /** Number of requests that can be sent now. */
  left(nowMs: number): number
  /** Milliseconds until `count` requests can be sent at once; 0 if they can now. */
  waitMs(nowMs: number, count: number): number
  /** Counts requests that are sent now. Throws if they exceed the budget. */
  take(nowMs: number, count: number): void
}>

/**
 * Opens a budget of requests. No 10 s have more than a sixth of `perMinute`, so no minute has more than `perMinute`,
 * wherever it begins.
 */
export function openRequestBudget(perMinute: number): RequestBudget {
  assert(perMinute >= REQUESTS_A_MINUTE_MIN, `a budget has at least ${REQUESTS_A_MINUTE_MIN} requests`)
  const burst = Math.floor(perMinute / WINDOWS)
  /** Moments of the newest `burst` requests. `next` is the place of the oldest. */
  const sent = new Float64Array(burst).fill(Number.NEGATIVE_INFINITY)
  let next = 0

  const waitMs = (nowMs: number, count: number): number => {
    assert(count <= burst, `at most ${burst} requests are sent at once, not ${count}`)
    if (count === 0) return 0
    const blocking = sent[(next + count - 1) % burst] ?? 0
    return Math.max(0, blocking + WINDOW_MS - nowMs)
  }
  return {
    burst,
    left(nowMs) {
      let free = 0
      while (free < burst && waitMs(nowMs, free + 1) === 0) free += 1
      return free
    },
    waitMs,
    take(nowMs, count) {
      assert(waitMs(nowMs, count) === 0, `${count} requests exceed the budget`)
      for (let index = 0; index < count; index += 1) sent[(next + index) % burst] = nowMs
      next = (next + count) % burst
    },
  }
}
