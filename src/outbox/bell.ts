import { once } from 'node:events'
import { pause } from '../command/terminal/pause.ts'

/** Wakes a waiting loop. A ring while nobody waits is kept for the next wait. */
type Bell = Readonly<{
  ring(): void
  clear(): void
  /** Waits for a ring, for some milliseconds at most; null for no limit. */
  wait(ms: number | null): Promise<void>
}>

export function openBell(stop: AbortSignal): Bell {
  let isRung = false
  let wake: AbortController | null = null
  return {
    ring() {
      isRung = true
      wake?.abort()
    },
    clear: () => void (isRung = false),
    async wait(ms) {
      if (isRung || stop.aborted) return
      wake = new AbortController()
      const ended = AbortSignal.any([stop, wake.signal])
      await (ms === null ? once(ended, 'abort') : pause(ms, ended))
      wake = null
    },
  }
}
