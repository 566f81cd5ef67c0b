import { stat, statfs } from 'node:fs/promises'
import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import { readLastBackup } from '../../log/backup/last-backup.ts'
import type { FinalityCounts } from '../../log/store/reader.ts'
import { storePath } from '../../log/store/store.ts'
import type { Ms } from '../../protocol/moment.ts'
import type { Exports } from '../../serve/export/exports.ts'
import { copiedCounter, gauge } from '../../serve/metrics/metrics.ts'
import type { Streams } from '../../serve/stream/streams.ts'

/** Upper bounds of the buckets of a commit and of a delivery, in seconds. */
export const SECONDS: number[] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]

/** Registers the metrics of the audits of the log. The returned function takes the progress of one. */
export function openAuditMetrics(
  registry: Registry,
  now: () => Ms,
): (state: Readonly<{ checked: number; done: boolean }>) => void {
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

/** Registers the counts of held drafts in the store, which are read at each collection. */
export function watchHeld(registry: Registry, readStore: () => FinalityCounts): void {
  let last = readStore()
  // An unreadable store fails readiness. It must not remove all metrics.
  const read = (): FinalityCounts => {
    try {
      last = readStore()
    } catch {}
    return last
  }
  const refused = 'Held drafts that the books or the comparison of amounts refuse'
  gauge(registry, 'daybook_finality_held', 'Drafts that are accepted and not published', () => read().held)
  gauge(registry, 'daybook_finality_refused', refused, () => read().refused)
  for (const [name, help, count] of [
    ['daybook_finality_failed_total', 'Drafts whose transaction failed', 'failed'],
    ['daybook_finality_dropped_total', 'Drafts that the operator gave up', 'dropped'],
    ['daybook_finality_vouched_total', 'Events published by the operator’s word', 'vouched'],
  ] as const)
    copiedCounter(registry, name, help, () => read()[count])
}

/** Registers the gauges of a data directory: its disk, its files and its last backup. Each is read at each collection. */
export function watchStore(registry: Registry, data: string): void {
  const store = storePath(data)
  const gauges: readonly (readonly [name: string, help: string, read: () => number | Promise<number>])[] = [
    [
      'daybook_disk_free_bytes',
      'Bytes that the service may still write to the disk of its data',
      () => freeOf(data),
    ],
    ['daybook_disk_size_bytes', 'Size of the disk of the data directory', () => diskOf(data)],
    ['daybook_store_bytes', 'Size of the store without its write-ahead log', () => sizeOf(store)],
    ['daybook_store_wal_bytes', 'Size of the write-ahead log of the store', () => sizeOf(`${store}-wal`)],
    [
      'daybook_backup_last_success_timestamp_seconds',
      'When the last backup began that ended well; 0 without one',
      () => (readLastBackup(data)?.at ?? 0) / 1000,
    ],
    [
      'daybook_backup_verify_last_success_timestamp_seconds',
      'When a backup was last verified; 0 without one',
      () => (readLastBackup(data)?.verifiedAt ?? 0) / 1000,
    ],
  ]
  for (const [name, help, read] of gauges) gauge(registry, name, help, read)
}

async function freeOf(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder)
  return bavail * bsize
}

async function diskOf(folder: string): Promise<number> {
  const { blocks, bsize } = await statfs(folder)
  return blocks * bsize
}

async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size
  } catch (error) {
    // A store without writers has no write-ahead log.
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return 0
    throw error
  }
}

/** Registers the metrics of one thread's exports, which are read at each collection. */
export function watchExports(registry: Registry, { counts }: Exports): void {
  gauge(registry, 'daybook_exports_open', 'Whole CSV files that are being sent', () => counts().open)
  const ended = 'Whole CSV files ended, by reason'
  copiedCounter(registry, 'daybook_exports_ended_total', ended, () => counts().ended)
}

/**
 * Registers the histogram of delivery to one thread's streams. The returned function takes each delay in milliseconds.
 */
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
export function watchStreams(registry: Registry, { counts, behind }: Streams): void {
  gauge(registry, 'daybook_stream_clients', 'Streams open', () => counts().clients)
  gauge(registry, 'daybook_stream_backfill_clients', 'Streams on their way to the head', behind)
  for (const [name, help, count] of [
    ['daybook_stream_opened_total', 'Streams opened', 'opened'],
    ['daybook_stream_events_sent_total', 'Events sent on streams', 'eventsSent'],
    ['daybook_stream_bytes_sent_total', 'Bytes sent on streams', 'bytesSent'],
    ['daybook_stream_closed_total', 'Streams closed, by reason', 'closed'],
  ] as const)
    copiedCounter(registry, name, help, () => counts()[count])
}
