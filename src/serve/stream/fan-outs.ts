/**
 * Schedule of fan-outs. A fan-out checks which streams have something to write. It starts immediately while streams are
 * idle. While they are busy, several commits share one.
 */
export type FanOuts = Readonly<{
  /** Reports a commit. Its fan-out starts immediately, or after the running fan-out and the following pause. */
  wake(): void
  /** Fans out now, without a pause. */
  run(): void
  /** Reports that the last live stream has had its turn. */
  ended(): void
  close(): void
}>

/**
 * Opens the schedule. `fanOut` starts a fan-out and returns whether a live stream has something to write. Commits
 * during a fan-out, or within `coalesceMs` of its end, share the next one. So a single event is sent immediately, and
 * many events cost each subscriber one write.
 */
export function openFanOuts(
  settings: Readonly<{ monotonicMs: () => number; coalesceMs: number; fanOut: () => boolean }>,
): FanOuts {
  let running = false
  let waiting = false
  let endedAt = Number.NEGATIVE_INFINITY
  let stopWaiting: (() => void) | null = null

  function run(): void {
    stopWaiting?.()
    stopWaiting = null
    waiting = false
    running = settings.fanOut() || running
  }

  function schedule(): void {
    const restMs = endedAt + settings.coalesceMs - settings.monotonicMs()
    if (restMs > 0) {
      const timer = setTimeout(run, restMs)
      stopWaiting = () => clearTimeout(timer)
    } else {
      // Deferred, so that the commits of one burst share a fan-out.
      const immediate = setImmediate(run)
      stopWaiting = () => clearImmediate(immediate)
    }
  }

  return {
    wake() {
      if (waiting) return
      waiting = true
      if (!running) schedule()
    },
    run,
    ended() {
      if (!running) return
      running = false
      endedAt = settings.monotonicMs()
      if (waiting) schedule()
    },
    close() {
      stopWaiting?.()
      // `wake` and `ended` schedule nothing in this state.
      waiting = true
      running = false
    },
  }
}
