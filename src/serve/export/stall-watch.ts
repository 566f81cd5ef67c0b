import type { ExportLimits } from './export-limits.ts'
import type { ExportRun } from './export-run.ts'
import { readUnacknowledged } from './peer-progress.ts'

/** Milliseconds for which an export has waited for its reader. */
export function waitedMs({ blockedSince }: ExportRun, now: number): number {
  return blockedSince === null ? 0 : now - blockedSince
}

/**
 * Opens the watch over exports that wait. It restarts the wait of an export whose peer has acknowledged bytes, because
 * its reader is slow and has not stalled. `look` is called at each tick, and reads the kernel's table now and then.
 */
export function openStallWatch({
  lookMs,
}: ExportLimits): (runs: Iterable<ExportRun>, now: number) => Promise<void> {
  let nextLookAt = 0
  return async (runs, now) => {
    if (now < nextLookAt) return
    nextLookAt = now + lookMs
    const waiting = [...runs].filter((run) => waitedMs(run, now) >= lookMs)
    if (waiting.length === 0) return
    const left = await readUnacknowledged(waiting.map(({ response }) => response.req.socket))
    for (const run of waiting) {
      const bytes = left.get(run.response.req.socket) ?? null
      const isTaken = run.unacknowledged !== null && bytes !== null && bytes !== run.unacknowledged
      if (isTaken && run.blockedSince !== null) run.blockedSince = now
      run.unacknowledged = bytes
    }
  }
}
