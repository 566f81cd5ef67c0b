/** Most lines of one fact in a second; further ones are counted. So a flood of refusals writes 20 lines a second. */
export const LINES_A_SECOND_MAX = 20

const SECOND_MS = 1_000

type Window = { startMs: number; lines: number; left: number }

/** Limits the lines of each name. */
type LineLimit = Readonly<{
  /** Whether one more line of this name may be written now. Counts it if not. */
  allows(name: string): boolean
  /** Tells of all lines that were left out until now. */
  flush(): void
}>

/** Opens the limit. `tell` is called with the number of lines that were left out, a second after the first of them. */
export function openLineLimit(
  monotonicMs: () => number,
  tell: (name: string, count: number) => void,
): LineLimit {
  const windows = new Map<string, Window>()
  let timer: NodeJS.Timeout | undefined

  function flush(): void {
    clearTimeout(timer)
    timer = undefined
    for (const [name, window] of windows) {
      if (window.left > 0) tell(name, window.left)
      window.left = 0
    }
  }

  return {
    allows(name) {
      const nowMs = monotonicMs()
      const window = windows.get(name) ?? { startMs: nowMs, lines: 0, left: 0 }
      windows.set(name, window)
      if (nowMs - window.startMs >= SECOND_MS) {
        window.startMs = nowMs
        window.lines = 0
      }
      window.lines += 1
      if (window.lines <= LINES_A_SECOND_MAX) return true
      window.left += 1
      timer ??= setTimeout(flush, SECOND_MS).unref()
      return false
    },
    flush,
  }
}
