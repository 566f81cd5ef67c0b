import type { Logger } from 'pino'

/** Milliseconds between two lines about connections that were closed because there are too many. */
const REPORT_MS = 60_000

/** Reports that connections are dropped: at the first, then with their number, at most a line a minute. */
export function openDropReport(log: Logger, monotonicMs: () => number, connectionsMax: number): () => void {
  let dropped = 0
  let nextMs = -Infinity
  return () => {
    dropped += 1
    const nowMs = monotonicMs()
    if (nowMs < nextMs) return
    log.warn({ dropped, connectionsMax }, 'as many connections as allowed are open: further ones are closed')
    dropped = 0
    nextMs = nowMs + REPORT_MS
  }
}
