/** Counts the new sizes of each log. */
export type GrowthRate = Readonly<{
  /** Takes one of a log's allowance; seconds until there is one, from 1 on, when it is used up. */
  take(origin: string): null | number
}>

const MINUTE_MS = 60_000

/** Opens a token bucket for each log, which holds the new sizes of one minute and is full at the start. */
export function openGrowthRate(perMinute: number, monotonicMs: () => number): GrowthRate {
  const buckets = new Map<string, Readonly<{ tokens: number; atMs: number }>>()
  return {
    take(origin) {
      const atMs = monotonicMs()
      const { tokens, atMs: lastMs } = buckets.get(origin) ?? { tokens: perMinute, atMs }
      const filled = Math.min(perMinute, tokens + ((atMs - lastMs) * perMinute) / MINUTE_MS)
      if (filled >= 1) {
        buckets.set(origin, { tokens: filled - 1, atMs })
        return null
      }
      buckets.set(origin, { tokens: filled, atMs })
      return Math.max(1, Math.ceil(((1 - filled) * MINUTE_MS) / perMinute / 1_000))
    },
  }
}
