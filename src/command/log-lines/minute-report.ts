/** Milliseconds between two reports of one kind. */
const REPORT_MS = 60_000

/** Opens the report of what happens often: `say` gets the first at once, and later ones as a count, at most once a minute. */
export function openMinuteReport(say: (count: number) => void, monotonicMs: () => number): () => void {
  let count = 0
  let nextMs = -Infinity
  return () => {
    count += 1
    const nowMs = monotonicMs()
    if (nowMs < nextMs) return
    say(count)
    count = 0
    nextMs = nowMs + REPORT_MS
  }
}
