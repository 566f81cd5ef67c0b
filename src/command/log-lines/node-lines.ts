import { Counter, type Registry } from 'prom-client'
import type { AuditState } from '../../log/audit-store.ts'
import { readLastBackup } from '../../log/backup/last-backup.ts'
import { shortenSender } from '../../protocol/sender-key.ts'
import type { Committed } from '../../publish/commit-queue.ts'
import { type AnswerReport, type Report, SLOW_ANSWER_MS } from '../../serve/request/request-path.ts'
import type { StreamEnded } from '../../serve/stream/subscriber.ts'
import type { FieldsOf } from './facts.ts'
import type { LogLines } from './log-lines.ts'

/** Lines about answers of the public listener. Successful fast answers have one only at `debug`. */
export function answerLines(lines: LogLines): Report {
  return {
    all: lines.choice().level === 'debug',
    answered: (answer) => sayAnswer(lines, answer),
    cut: (fault) => lines.say('answer-cut', { fault }),
  }
}

function sayAnswer(lines: LogLines, { error, code, caller, ...answer }: AnswerReport): void {
  const { status } = answer
  const fields = { ...answer, ms: Math.round(answer.ms), code: code ?? 'none', caller: shortenSender(caller) }
  if (error !== null) lines.say('failed', { ...fields, err: error })
  // No fault of its own: the request waited for an event that is not here yet, or for a file of which a line tells.
  else if (code === 'behind' || code === 'not-made') lines.say('problem', fields)
  else if (status >= 500) lines.say('unready', fields)
  else if (answer.ms >= SLOW_ANSWER_MS) lines.say('slow', fields)
  else lines.say(status >= 400 ? 'problem' : 'answered', fields)
}

/** Writes the line of an ended stream, at `info` when it was cut because its reader stalled. */
export function sayStreamEnd(lines: LogLines, { why, seq }: StreamEnded): void {
  const isCut = why === 'slow' || why === 'error'
  lines.say(isCut ? 'stream-cut' : 'stream-ended', { fault: why, seq })
}

/** Least milliseconds between two lines about publications. Commits in between share the next line. */
export const PUBLICATION_LINE_MS = 100

/** Opens the lines about publications. Together they name each seq once, in order. */
export function openPublicationLines(
  lines: LogLines,
  monotonicMs: () => number,
): Readonly<{ committed(committed: Committed): void; flush(): void }> {
  type Sum = Omit<FieldsOf<'published'>, 'ms'> & Readonly<{ beganMs: number }>
  let sum: Sum | null = null
  let endMs = 0
  let nextMs = -Infinity
  let timer: NodeJS.Timeout | undefined

  function flush(): void {
    clearTimeout(timer)
    timer = undefined
    if (sum === null) return
    const { beganMs, ...fields } = sum
    lines.say('published', { ...fields, ms: Math.round(endMs - beganMs) })
    sum = null
    nextMs = monotonicMs() + PUBLICATION_LINE_MS
  }

  return {
    committed({ seq, events, requests, held, ms }) {
      endMs = monotonicMs()
      // Requests of one commit arrive during the previous one, so a sum of durations would exceed the elapsed time.
      const first = { first: seq - events + 1, beganMs: endMs - ms, commits: 0, events: 0, requests: 0 }
      const before = sum ?? first
      sum = {
        ...before,
        last: seq,
        commits: before.commits + 1,
        events: before.events + events,
        requests: before.requests + requests,
        held,
      }
      const waitMs = nextMs - endMs
      if (waitMs <= 0) flush()
      else timer ??= setTimeout(flush, waitMs).unref()
    },
    flush,
  }
}

/** Lines about audits. */
export type AuditLines = Readonly<{
  begun(): void
  /** Must be called with the state after each slice; writes a line at the end. */
  audited(state: AuditState): void
  /** Must be called when a temporary fault of the machine ended an audit. */
  failed(reason: string): void
}>

/** Opens the lines about audits, which run one at a time. */
export function openAuditLines(lines: LogLines, monotonicMs: () => number): AuditLines {
  let beganMs = 0
  return {
    begun() {
      beganMs = monotonicMs()
      lines.say('audit-begun', {})
    },
    audited({ done, events, fault }) {
      if (!done || fault !== null) return
      lines.say('audited', { events, ms: Math.round(monotonicMs() - beganMs) })
    },
    failed: (reason) => lines.say('audit-failed', { reason }),
  }
}

/** Milliseconds between two checks for a new backup. */
const LOOK_MS = 60_000

/**
 * Writes a line about each backup of a data directory. Another process makes backups, so the file `last-backup` is
 * watched.
 */
export function watchBackups(data: string, lines: LogLines, everyMs: number = LOOK_MS): Disposable {
  let known = readLastBackup(data)?.at
  const looking = setInterval(() => {
    const last = readLastBackup(data)
    if (last === null || last.at === known) return
    known = last.at
    lines.say('backed-up', { events: last.events, ms: last.verifiedAt - last.at })
  }, everyMs).unref()
  return { [Symbol.dispose]: () => clearInterval(looking) }
}

/** Milliseconds between two reports of one kind. */
const REPORT_MS = 60_000

/**
 * Opens the report of a frequent fact. `say` reports the first immediately, and later ones as a count, at most once a
 * minute.
 */
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

type CrowdedParts = Readonly<{ registry: Registry; lines: LogLines; monotonicMs(): number }>

/** Counts and reports the connections that a listener ends to make room for others, beyond `connectionsMax`. */
export function openCrowdedReport(
  of: 'private' | 'witness',
  connectionsMax: number,
  { registry, lines, monotonicMs }: CrowdedParts,
): () => void {
  const name = 'daybook_connections_ended_total'
  const help = 'Connections that were ended to make room for others, by listener'
  // A mirror with a witness has both listeners.
  const known = registry.getSingleMetric(name)
  const ended =
    known instanceof Counter
      ? known
      : new Counter({ name, help, labelNames: ['listener'], registers: [registry] })
  ended.inc({ listener: of }, 0)
  const report = openMinuteReport(
    (count) => lines.say('listener-crowded', { of, count, connectionsMax }),
    monotonicMs,
  )
  return () => {
    ended.inc({ listener: of })
    report()
  }
}
