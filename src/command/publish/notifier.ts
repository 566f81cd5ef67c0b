import { once } from 'node:events'
import { pause } from '../terminal/command-context.ts'

/** Notifier of a waiting loop. A notice is kept for the next wait if nobody waits. */
type Notifier = Readonly<{
  notify(): void
  clear(): void
  /** Waits for a notice, at most `ms` milliseconds; null for no limit. */
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
