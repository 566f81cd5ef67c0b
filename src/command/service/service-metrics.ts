import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import { CLOCK_FAULTS, type ClockFault } from '../../publish/writer/clock-guard.ts'
import { PUBLISH_OUTCOMES, type PublishOutcome } from '../../publish/api/publish-api.ts'
import type { Ms } from '../../protocol/moment.ts'
import { copiedCounter, gauge } from '../../serve/metrics/metrics.ts'
import type { Exports } from '../../serve/export/exports.ts'
import type { Streams } from '../../serve/stream/streams.ts'
import type { Committed } from '../../publish/commit-queue.ts'

/** Metrics of the writer. */
export type ServiceMetrics = Readonly<{
  committed(committed: Committed): void
  /** Number of events of other nodes that were applied. */
  followed(events: number): void
  publishRequests(outcome: PublishOutcome, count: number): void
  irregular(field: string): void
  /** Progress of an audit of the log. */
  audited(state: Readonly<{ checked: number; done: boolean }>): void
  /** Whether the disk has room for the next commit. */
  room(room: boolean): void
  /** A file of the store was replaced or removed. */
  replaced(): void
  /** Fault of the writer's clock; null when it is believed. */
  clock(fault: ClockFault | null): void
}>

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]

/** Registers the metrics of the writer; throws if the registry has them already. */
export function openServiceMetrics(registry: Registry, now: () => Ms): ServiceMetrics {
  const registers = [registry]
  const events = new Counter({ name: 'daybook_log_events_total', help: 'Events published', registers })
  const seconds = new Histogram({
    name: 'daybook_publish_commit_duration_seconds',
    help: 'From the arrival of a commit’s first request to its fsync',
    buckets: SECONDS,
    registers,
  })
  const requests = new Counter({
    name: 'daybook_publish_requests_total',
    help: 'Publish requests by outcome',
    labelNames: ['outcome'],
    registers,
  })
  // A rate needs a first value, also of an outcome that has not occurred.
  for (const outcome of PUBLISH_OUTCOMES) requests.inc({ outcome }, 0)
  const irregular = new Counter({
    name: 'daybook_publish_irregular_total',
    help: 'Drafts published though the books refuse them, by the field at odds',
    labelNames: ['field'],
    registers,
  })
  return {
    ...openWriterFaults(registers),
    committed(committed) {
      events.inc(committed.events)
      seconds.observe(committed.ms / 1000)
    },
    publishRequests: (outcome, count) => requests.inc({ outcome }, count),
    irregular: (field) => irregular.inc({ field }),
    audited: openAuditMetrics(registry, now),
    followed: (count) => events.inc(count),
  }
}

/** Registers the metrics of the audits of the log. Returns what takes the progress of one. */
export function openAuditMetrics(registry: Registry, now: () => Ms): ServiceMetrics['audited'] {
  const registers = [registry]
  const checked = new Gauge({
    name: 'daybook_audit_events',
    help: 'Events that the present audit of the log has hashed',
    registers,
  })
  const audits = new Counter({
    name: 'daybook_audits_total',
    help: 'Audits of the whole log that found it right',
    registers,
  })
  const audited = new Gauge({
    name: 'daybook_audit_last_success_timestamp_seconds',
    help: 'When the last audit of the whole log found it right; 0 before the first one',
    registers,
  })
  return (state) => {
    checked.set(state.checked)
    if (!state.done) return
    audits.inc()
    audited.set(now() / 1000)
  }
}

/** Registers the gauges of what keeps the writer from publishing. */
function openWriterFaults(registers: Registry[]): Pick<ServiceMetrics, 'room' | 'replaced' | 'clock'> {
  const full = new Gauge({
    name: 'daybook_disk_full',
    help: '1 while the disk has no room for a commit',
    registers,
  })
  const replaced = new Gauge({
    name: 'daybook_store_replaced',
    help: '1 after a file of the store was replaced or removed',
    registers,
  })
  const faults = new Gauge({
    name: 'daybook_clock_fault',
    help: '1 while the clock is not believed, by the fault',
    labelNames: ['fault'],
    registers,
  })
  const clock = (now: ClockFault | null): void => {
    for (const fault of CLOCK_FAULTS) faults.set({ fault }, fault === now ? 1 : 0)
  }
  clock(null)
  return { clock, room: (room) => full.set(room ? 0 : 1), replaced: () => replaced.set(1) }
}

/** Registers the metrics of one thread's exports, which are read at each collection. */
export function watchExports(registry: Registry, exports: Exports): void {
  gauge(registry, 'daybook_exports_open', 'Whole CSV files that are being sent', () => exports.counts().open)
  counterOf(
    registry,
    'daybook_exports_ended_total',
    'Whole CSV files ended, by reason',
    () => exports.counts().ended,
  )
}

/** Registers a counter by reason, whose counts are copied at each collection. */
function counterOf(
  registry: Registry,
  name: string,
  help: string,
  read: () => Readonly<Record<string, number>>,
): void {
  const made = new Counter({
    name,
    help,
    labelNames: ['reason'],
    registers: [],
    collect() {
      this.reset()
      for (const [reason, count] of Object.entries(read())) this.inc({ reason }, count)
    },
  })
  registry.registerMetric(made)
}

/** Registers the histogram of delivery to one thread's streams. Returns what takes each delay in milliseconds. */
export function watchDelivery(registry: Registry): (ms: number) => void {
  const lag = new Histogram({
    name: 'daybook_stream_delivery_lag_seconds',
    help: 'From an event’s moment until all live streams had it',
    buckets: SECONDS,
    registers: [registry],
  })
  return (ms) => lag.observe(ms / 1_000)
}

/** Registers the metrics of one thread's streams, which are read at each collection. */
export function watchStreams(registry: Registry, streams: Streams): void {
  gauge(registry, 'daybook_stream_clients', 'Streams open', () => streams.counts().clients)
  gauge(registry, 'daybook_stream_backfill_clients', 'Streams on their way to the head', () =>
    streams.behind(),
  )
  copiedCounter(registry, 'daybook_stream_opened_total', 'Streams opened', () => streams.counts().opened)
  copiedCounter(
    registry,
    'daybook_stream_events_sent_total',
    'Events sent on streams',
    () => streams.counts().eventsSent,
  )
  copiedCounter(
    registry,
    'daybook_stream_bytes_sent_total',
    'Bytes sent on streams',
    () => streams.counts().bytesSent,
  )
  counterOf(
    registry,
    'daybook_stream_closed_total',
    'Streams closed, by reason',
    () => streams.counts().closed,
  )
}
