import type { LogLines } from './log-lines.ts'
import type { Committed } from '../../publish/commit-queue.ts'

/** Milliseconds between two lines about publications. Commits in between share the next line. */
export const PUBLICATION_LINE_MS = 100

type Sum = {
  first: number
  last: number
  commits: number
  events: number
  requests: number
  held: number
  /** Moment at which the first request of the line arrived. */
  beganMs: number
  ms: number
}

const NONE = { last: 0, commits: 0, events: 0, requests: 0, held: 0, ms: 0 }

/** Lines about publications. */
type PublicationLines = Readonly<{ committed(committed: Committed): void; flush(): void }>

/** Opens the lines about publications. Together they name each seq once, in order. */
export function openPublicationLines(lines: LogLines, monotonicMs: () => number): PublicationLines {
  let sum: Sum | null = null
  let nextMs = -Infinity
  let timer: NodeJS.Timeout | undefined

  function flush(): void {
    clearTimeout(timer)
    timer = undefined
    if (sum === null) return
    const { beganMs: _, ...fields } = sum
    lines.say('published', { ...fields, ms: Math.round(sum.ms) })
    sum = null
    nextMs = monotonicMs() + PUBLICATION_LINE_MS
  }

  return {
    committed({ seq, events, requests, held, ms }) {
      const nowMs = monotonicMs()
      sum ??= { ...NONE, first: seq - events + 1, beganMs: nowMs - ms }
      sum.last = seq
      sum.commits += 1
      sum.events += events
      sum.requests += requests
      sum.held = held
      // Requests of one commit arrive during the one before, so a sum of durations would be longer than the time itself.
      sum.ms = nowMs - sum.beganMs
      const waitMs = nextMs - nowMs
      if (waitMs <= 0) flush()
      else timer ??= setTimeout(flush, waitMs).unref()
    },
    flush,
  }
}
