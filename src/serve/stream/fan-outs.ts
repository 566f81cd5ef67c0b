/** When streams look at what was committed: at once while they are idle, together while they are busy. */
export type FanOuts = Readonly<{
  /** Something was committed: it is fanned out at once, or when the pause after the last fan-out is over. */
  wake(): void
  /** Fans out now, whatever was waited for. */
  run(): void
  /** Whoever had something to be written has had a turn. */
  ended(): void
  close(): void
}>

/**
 * Opens the gate between commits and fan-outs. `fanOut` begins one and says whether anyone is to be written to; what is
 * committed while it lasts, or in the `coalesceMs` after its end, waits for that end and is then fanned out in one go. So
 * one event alone waits for nothing, and many cost one write of each subscriber instead of many.
 */
export function openFanOuts(
  settings: Readonly<{ monotonicMs: () => number; coalesceMs: number; fanOut: () => boolean }>,
): FanOuts {
  let lasts = false
  let waiting = false
  let endedAt = Number.NEGATIVE_INFINITY
  let stopWaiting: (() => void) | null = null

  function run(): void {
    stopWaiting?.()
    stopWaiting = null
    waiting = false
    lasts = settings.fanOut() || lasts
  }

  function schedule(): void {
    const restMs = endedAt + settings.coalesceMs - settings.monotonicMs()
    if (restMs > 0) {
      const timer = setTimeout(run, restMs)
      stopWaiting = () => clearTimeout(timer)
    } else {
      // Not within the call: the commits of one burst are looked at once.
      const immediate = setImmediate(run)
      stopWaiting = () => clearImmediate(immediate)
    }
  }

  return {
    wake() {
      if (waiting) return
      waiting = true
      if (!lasts) schedule()
    },
    run,
    ended() {
      if (!lasts) return
      lasts = false
      endedAt = settings.monotonicMs()
      if (waiting) schedule()
    },
    close() {
      stopWaiting?.()
      // As if one waited for ever: nothing schedules another.
      waiting = true
      lasts = false
    },
  }
}
