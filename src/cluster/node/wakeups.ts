import { openWakeup, type Wakeup } from '../../command/plug/wakeup.ts'
import type { NodeTimers } from './cluster-node.ts'

/** Wakes the loop of a node, and callers that wait for a place in its books. */
export type Wakeups = Wakeup &
  Readonly<{
    /** Records the place that the books have reached. */
    advance(place: number): void
    /** Whether the books, now at `present`, reach a place within `ms` milliseconds. */
    reached(place: number, present: number, ms: number): Promise<boolean>
  }>

export function openWakeups({ sleep }: NodeTimers): Wakeups {
  const waiting = new Set<Readonly<{ place: number; reached: AbortController }>>()
  return {
    ...openWakeup(sleep),
    advance(place) {
      for (const one of waiting) if (one.place <= place) one.reached.abort()
    },
    async reached(place, present, ms) {
      if (place <= present) return true
      const one = { place, reached: new AbortController() }
      waiting.add(one)
      await sleep(ms, one.reached.signal).catch(() => undefined)
      waiting.delete(one)
      return one.reached.signal.aborted
    },
  }
}
