/** Wake-up of one waiter. It is kept until the waiter waits. */
export type Wakeup = Readonly<{
  wake(): void
  /** Waits for a wake-up since the last wait, for at most `ms` milliseconds, or until the signal is aborted. */
  wait(ms: number, signal: AbortSignal): Promise<void>
}>

/** Opens a wake-up. `sleep` rejects when its signal is aborted. */
export function openWakeup(sleep: (ms: number, signal: AbortSignal) => Promise<unknown>): Wakeup {
  let isWoken = false
  let present = new AbortController()
  return {
    wake() {
      isWoken = true
      present.abort()
    },
    async wait(ms, signal) {
      if (!isWoken && !signal.aborted) {
        present = new AbortController()
        await sleep(ms, AbortSignal.any([signal, present.signal])).catch(() => undefined)
      }
      isWoken = false
    },
  }
}
