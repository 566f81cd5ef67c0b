/** The newest place that was heard of. It is a hint: it may be missing, late or wrong. */
type PlaceHints = Readonly<{
  newest(): number
  hear(place: number): void
  /** There is nothing at this place: what was heard was wrong. */
  lower(place: number): void
  reset(): void
  /** Waits for a place at or after `from`, or for `msMax`. */
  wait(from: number, msMax: number): Promise<void>
}>

export function openPlaceHints(): PlaceHints {
  let newest = 0
  const waiting = new Set<Readonly<{ from: number; wake: () => void }>>()
  return {
    newest: () => newest,
    hear(place) {
      newest = Math.max(newest, place)
      for (const { from, wake } of waiting) if (from <= newest) wake()
    },
    lower: (place) => void (newest = Math.min(newest, place - 1)),
    reset() {
      newest = 0
      for (const { wake } of waiting) wake()
    },
    async wait(from, msMax) {
      if (newest >= from) return
      const { promise, resolve } = Promise.withResolvers<void>()
      const waiter = { from, wake: resolve }
      const timer = setTimeout(resolve, msMax)
      waiting.add(waiter)
      await promise
      clearTimeout(timer)
      waiting.delete(waiter)
    },
  }
}
