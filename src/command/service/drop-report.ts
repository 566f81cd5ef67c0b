import type { LogLines } from '../log-lines/log-lines.ts'

/** Milliseconds between two log lines about dropped connections. */
const REPORT_MS = 60_000

/** Writes log lines about dropped connections: the first one at once, later ones as a count, at most once a minute. */
export function openDropReport(
  lines: LogLines,
  monotonicMs: () => number,
  connectionsMax: number,
): () => void {
  let dropped = 0
  let nextMs = -Infinity
  return () => {
    dropped += 1
    const nowMs = monotonicMs()
    if (nowMs < nextMs) return
    lines.say('connections-full', { count: dropped, connectionsMax })
    dropped = 0
    nextMs = nowMs + REPORT_MS
  }
}
