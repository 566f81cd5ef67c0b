import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import { PUBLISH_CONNECTIONS_MAX, PUBLISH_OUTCOMES } from '../../publish/api/publish-api.ts'
import type { PublishApiReport } from '../../publish/api/publish-replies.ts'
import { CLOCK_FAULTS, type ClockFault } from '../../publish/writer/clock-guard.ts'
import type { WriterListeners } from '../../publish/writer/writer.ts'
import type { LogLines } from '../log-lines/log-lines.ts'
import { openCrowdedReport, openPublicationLines } from '../log-lines/node-lines.ts'
import { gauge } from '../../serve/metrics/metrics.ts'
import { SECONDS } from './service-metrics.ts'

/** Listeners of the writer that only count and write log lines. Disposing of it writes the waiting lines. */
type PublishReport = Disposable &
  Omit<WriterListeners, 'operations' | 'broken' | 'carrier' | 'judge'> &
  Readonly<{
    /** Check of `/readyz`: whether the files of the store are in place. */
    otherChecks(): Readonly<Record<string, boolean>>
  }>

const CLOCK_REASONS: Readonly<Record<ClockFault, string>> = {
  stepped: 'the clock was set by 60 s or more: no event is published until it agrees, or until a restart',
  'behind-head':
    'the newest event is more than 60 s ahead of the clock: set the clock, or start with --accept-clock',
}

/** Registers the metrics of the writer, and opens their listeners. Throws if the registry has them already. */
export function openPublishReport(
  registry: Registry,
  lines: LogLines,
  monotonicMs: () => number,
): PublishReport {
  const registers = [registry]
  const published = new Counter({ name: 'daybook_log_events_total', help: 'Events published', registers })
  const seconds = new Histogram({
    name: 'daybook_publish_commit_duration_seconds',
    help: 'From the arrival of a commit’s first request to its fsync',
    buckets: SECONDS,
    registers,
  })
  const counted = new Counter({
    name: 'daybook_publish_requests_total',
    help: 'Publish requests by outcome',
    labelNames: ['outcome'],
    registers,
  })
  // A rate needs a first value, even for an outcome that has not occurred.
  for (const outcome of PUBLISH_OUTCOMES) counted.inc({ outcome }, 0)
  const irregulars = new Counter({
    name: 'daybook_publish_irregular_total',
    help: 'Drafts published though the books refuse them, by the field at odds',
    labelNames: ['field'],
    registers,
  })
  const full = new Gauge({
    name: 'daybook_disk_full',
    help: '1 while the disk has no room for a commit',
    registers,
  })
  const clockFault = new Gauge({
    name: 'daybook_clock_fault',
    help: '1 while the clock is not believed, by the fault',
    labelNames: ['fault'],
    registers,
  })
  for (const fault of CLOCK_FAULTS) clockFault.set({ fault }, 0)
  const publications = openPublicationLines(lines, monotonicMs)
  let inPlace = true
  const replacedHelp = '1 after a file of the store was replaced or removed'
  gauge(registry, 'daybook_store_replaced', replacedHelp, () => (inPlace ? 0 : 1))
  return {
    committed(committed) {
      published.inc(committed.events)
      seconds.observe(committed.ms / 1_000)
      publications.committed(committed)
    },
    followed: ({ events }) => published.inc(events),
    held: ({ ms, ...held }) => lines.say('held', { ...held, ms: Math.round(ms) }),
    requests(outcomes, reports) {
      for (const [outcome, count] of outcomes) counted.inc({ outcome }, count)
      for (const report of reports) sayPublishAnswer(lines, report)
    },
    irregular: (field) => irregulars.inc({ field }),
    crowded: openCrowdedReport('private', PUBLISH_CONNECTIONS_MAX, { lines, registry, monotonicMs }),
    failure(reason, report) {
      const { request = 'none', traceparent, caller } = report ?? {}
      lines.say('publish-api-failed', { reason, request, traceparent, caller })
    },
    room(room) {
      full.set(room ? 0 : 1)
      lines.say(room ? 'disk-room' : 'disk-full', {})
    },
    clock(fault) {
      for (const one of CLOCK_FAULTS) clockFault.set({ fault: one }, one === fault ? 1 : 0)
      if (fault === null) lines.say('clock-right', {})
      else lines.say('clock-wrong', { fault, reason: CLOCK_REASONS[fault] })
    },
    replaced(file) {
      inPlace = false
      lines.say('store-replaced', { file })
    },
    otherChecks: () => ({ store_in_place: inPlace }),
    [Symbol.dispose]: publications.flush,
  }
}

function sayPublishAnswer(lines: LogLines, answer: PublishApiReport): void {
  const { request, status, field, traceparent, caller } = answer
  const code = answer.code ?? 'none'
  const common = { request, status, code, traceparent, caller }
  if (status < 400) lines.say('accepted', common)
  else if (status >= 500) lines.say('unaccepting', common)
  else if (code === 'unauthorized' || code === 'rate-limited') lines.say('unauthorized', common)
  else lines.say('refused', { ...common, field: field ?? 'none' })
}
