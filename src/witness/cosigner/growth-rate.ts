/**
 * Rate limit of new sizes for each log. While a log's allowance is used up, only the largest submitted tree waits for
 * the next unit. So a caller who replays older checkpoints of a busy log cannot block the newest.
 */
export type GrowthRate = Readonly<{
  /** Takes a unit of a log's allowance. False when it is used up, or a caller waits for the next one. */
  take(origin: string): boolean
  /**
   * Waits for the next unit and takes it; then resolves with null. Otherwise resolves with the seconds before a retry:
   * immediately when a tree as large waits already or the wait would be long, or as soon as a larger one comes.
   */
  wait(origin: string, size: number): Promise<number | null>
}>

const MINUTE_MS = 60_000
/** Longest wait of a submission for its log's allowance. */
export const GROWTH_WAIT_MS_MAX = 2_000
/**
 * Fewest new sizes of a log in a minute that an operator may set. With fewer, the next unit comes after the longest
 * wait. Then the caller that asks most often would get it instead of the largest tree.
 */
export const GROWTH_PER_MINUTE_MIN: number = MINUTE_MS / GROWTH_WAIT_MS_MAX

type Bucket = Readonly<{ tokens: number; atMs: number }>
type Waiter = Readonly<{ size: number; end(seconds: number | null): void }>

/** Opens a token bucket for each log. It holds the new sizes of one minute and is full at the start. */
export function openGrowthRate(
  perMinute: number,
  monotonicMs: () => number,
  pause: (ms: number) => Promise<void>,
): GrowthRate {
  const buckets = new Map<string, Bucket>()
  const waiters = new Map<string, Waiter>()

  function tokensOf(origin: string): number {
    const atMs = monotonicMs()
    const { tokens, atMs: lastMs } = buckets.get(origin) ?? { tokens: perMinute, atMs }
    return Math.min(perMinute, tokens + ((atMs - lastMs) * perMinute) / MINUTE_MS)
  }
  function takeOne(origin: string): boolean {
    const tokens = tokensOf(origin)
    if (tokens < 1) return false
    buckets.set(origin, { tokens: tokens - 1, atMs: monotonicMs() })
    return true
  }
  const msUntilNext = (origin: string): number =>
    Math.max(0, Math.ceil(((1 - tokensOf(origin)) * MINUTE_MS) / perMinute))

  /** Gives the next unit to the waiting caller. */
  async function giveNext(origin: string): Promise<void> {
    do await pause(msUntilNext(origin))
    while (!takeOne(origin))
    const waiter = waiters.get(origin)
    waiters.delete(origin)
    waiter?.end(null)
  }
  return {
    take: (origin) => !waiters.has(origin) && takeOne(origin),
    async wait(origin, size) {
      const waitMs = msUntilNext(origin)
      const seconds = Math.max(1, Math.ceil(waitMs / 1_000))
      const former = waiters.get(origin)
      if (waitMs > GROWTH_WAIT_MS_MAX || (former !== undefined && former.size >= size)) return seconds
      former?.end(seconds)
      const { promise, resolve } = Promise.withResolvers<number | null>()
      waiters.set(origin, { size, end: resolve })
      if (former === undefined) void giveNext(origin)
      return await promise
    },
  }
}
