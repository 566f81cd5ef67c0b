import { openRequestBudget } from './request-budget.ts'

type RpcBudgetsSettings = Readonly<{
  urls: number
  requestsPerMinute: number
  monotonicMs(): number
  /** Waits, or rejects when the gate stops. */
  sleep(ms: number): Promise<void>
}>

/** The budgets of requests to all URLs. */
export type RpcBudgets = Readonly<{
  /** Most requests that one URL gets at once. */
  burst: number
  /** Waits until the URL, numbered from 1, may get so many requests, and counts them. Callers are served in turn. */
  spend(requests: number, url: number): Promise<void>
  /** Requests that every URL may get now. */
  left(): number
}>

/** Opens a budget of requests for each URL. */
export function openRpcBudgets({
  urls,
  requestsPerMinute,
  monotonicMs,
  sleep,
}: RpcBudgetsSettings): RpcBudgets {
  const lanes = Array.from({ length: urls }, () => ({
    budget: openRequestBudget(requestsPerMinute),
    last: Promise.resolve(),
  }))
  const burst = lanes[0]?.budget.burst ?? 0

  async function take(budget: ReturnType<typeof openRequestBudget>, requests: number): Promise<void> {
    // More than a burst is counted burst by burst before the first request is sent.
    for (let counted = 0; counted < requests;) {
      const count = Math.min(requests - counted, burst)
      for (;;) {
        const ms = budget.waitMs(monotonicMs(), count)
        if (ms === 0) break
        await sleep(ms)
      }
      budget.take(monotonicMs(), count)
      counted += count
    }
  }

  return {
    burst,
    spend(requests, url) {
      const lane = lanes[url - 1]
      if (lane === undefined) return Promise.resolve()
      const spent = lane.last.then(() => take(lane.budget, requests))
      // A wait that ends with the stop of the gate must not block or reject the next one by itself.
      lane.last = spent.catch(() => undefined)
      return spent
    },
    left: () => Math.min(...lanes.map(({ budget }) => budget.left(monotonicMs()))),
  }
}
