import type { NodeTimers } from './cluster-node.ts'

/** Wakes the loop of a node, and those who wait for a place in its books. */
export type Wakeups = Readonly<{
  wake(): void
  /** Waits for the next wake-up, for one since the last wait, for so many milliseconds, or until the signal is aborted. */
  wait(ms: number, signal: AbortSignal): Promise<void>
  /** Tells the place that the books have reached. */
  advance(place: number): void
  /** Whether the books, which are at `present`, reach a place within so many milliseconds. */
  reached(place: number, present: number, ms: number): Promise<boolean>
}>

export function openWakeups({ sleep }: NodeTimers): Wakeups {
  const waiting = new Set<Readonly<{ place: number; reached: () => void }>>()
  let isWoken = false
  let endWait = (): void => undefined
  return {
    wake() {
      isWoken = true
      endWait()
    },
    async wait(ms, signal) {
      if (!isWoken && !signal.aborted) await lapse(ms, signal, (ended) => void (endWait = ended))
      isWoken = false
    },
    advance(place) {
      for (const one of waiting) if (one.place <= place) one.reached()
    },
    async reached(place, present, ms) {
      if (place <= present) return true
      let isReached = false
      const limit = new AbortController()
      await lapse(ms, limit.signal, (ended) => {
        const one = {
          place,
          reached() {
            isReached = true
            waiting.delete(one)
            ended()
          },
        }
        waiting.add(one)
        limit.signal.addEventListener('abort', () => waiting.delete(one), { once: true })
      })
      limit.abort()
      return isReached
    },
  }

  /** Waits for so long, until the signal is aborted, or until what `begin` gets is called. */
  async function lapse(ms: number, signal: AbortSignal, begin: (ended: () => void) => void): Promise<void> {
    const over = new AbortController()
    begin(() => over.abort())
    await sleep(ms, AbortSignal.any([signal, over.signal])).catch(() => undefined)
  }
}
