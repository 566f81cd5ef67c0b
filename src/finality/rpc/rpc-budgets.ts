type RpcBudgetsSettings = Readonly<{
  urls: number
  requestsPerMinute: number
  /** Monotonic clock, in milliseconds. */
  monotonicMs(): number
  /** Waits, or rejects when the work stops. */
  sleep(ms: number): Promise<void>
}>

/** The budgets of requests to all URLs. */
export type RpcBudgets = Readonly<{
  /** Most requests that one URL gets at once. */
  burst: number
  /** Waits until the URL, numbered from 1, may get this many requests, and counts them. Callers wait in a queue. */
  spend(requests: number, url: number): Promise<void>
  /** Requests that every URL may get now. */
  left(): number
}>

const MINUTE_MS = 60_000
/**
 * Number of windows in a minute. Each has an equal share of the budget, so that no burst blocks the rest of the minute.
 */
const WINDOWS = 6

/** Opens a budget for each URL: no minute has more than `requestsPerMinute`, wherever it begins. */
export function openRpcBudgets({
  urls,
  requestsPerMinute,
  monotonicMs,
  sleep,
}: RpcBudgetsSettings): RpcBudgets {
  const windows = Math.min(WINDOWS, requestsPerMinute)
  const burst = Math.floor(requestsPerMinute / windows)
  /** State of each URL: the times of its newest requests, the position of the oldest, and the last waiting caller. */
  const lanes = Array.from({ length: urls }, () => ({
    sent: new Float64Array(burst).fill(Number.NEGATIVE_INFINITY),
    oldest: 0,
    last: Promise.resolve(),
  }))
  type Lane = (typeof lanes)[number]

  /** Milliseconds until this many requests (at most a burst) can be sent at once. */
  const waitMs = ({ sent, oldest }: Lane, count: number): number =>
    (sent[(oldest + count - 1) % burst] ?? 0) + MINUTE_MS / windows - monotonicMs()

  async function take(lane: Lane, requests: number): Promise<void> {
    // More than a burst is counted in bursts before the first request is sent.
    for (let counted = 0; counted < requests;) {
      const count = Math.min(requests - counted, burst)
      for (let ms = waitMs(lane, count); ms > 0; ms = waitMs(lane, count)) await sleep(ms)
      for (let index = 0; index < count; index += 1) lane.sent[(lane.oldest + index) % burst] = monotonicMs()
      lane.oldest = (lane.oldest + count) % burst
      counted += count
    }
  }

  return {
    burst,
    spend(requests, url) {
      const lane = lanes[url - 1]
      if (lane === undefined) return Promise.resolve()
      const spent = lane.last.then(() => take(lane, requests))
      // A wait that ends with the stop must not block or reject the next one.
      lane.last = spent.catch(() => undefined)
      return spent
    },
    left() {
      const free = (lane: Lane): number => {
        let count = 0
        while (count < burst && waitMs(lane, count + 1) <= 0) count += 1
        return count
      }
      return Math.min(...lanes.map(free))
    },
  }
}
