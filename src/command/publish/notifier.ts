import { once } from 'node:events'
import { pause } from '../terminal/command-context.ts'

/** Wakes a waiting loop. A notice while nobody waits is kept for the next wait. */
type Notifier = Readonly<{
  notify(): void
  clear(): void
  /** Waits for a notice, for some milliseconds at most; null for no limit. */
  wait(ms: number | null): Promise<void>
}>

export function openNotifier(stop: AbortSignal): Notifier {
  let isNotified = false
  let wake: AbortController | null = null
  return {
    notify() {
      isNotified = true
      wake?.abort()
    },
    clear: () => void (isNotified = false),
    async wait(ms) {
      if (isNotified || stop.aborted) return
      wake = new AbortController()
      const ended = AbortSignal.any([stop, wake.signal])
      await (ms === null ? once(ended, 'abort') : pause(ms, ended))
      wake = null
    },
  }
}
