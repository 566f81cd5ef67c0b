import type { Logger } from 'pino'

/** Milliseconds between two log lines about dropped connections. */
const REPORT_MS = 60_000

/** Logs dropped connections: the first one at once, later ones as a count, at most once a minute. */
export function openDropReport(log: Logger, monotonicMs: () => number, connectionsMax: number): () => void {
  let dropped = 0
  let nextMs = -Infinity
  return () => {
    dropped += 1
    const nowMs = monotonicMs()
    if (nowMs < nextMs) return
    log.warn({ dropped, connectionsMax }, 'the limit of connections is reached: further ones are closed')
    dropped = 0
    nextMs = nowMs + REPORT_MS
  }
}
