import type { Registry } from 'prom-client'
import type { ClusterNotice } from '../../publish/cluster/cluster-notice.ts'
import type { ClusterReport } from '../../publish/cluster/cluster-report.ts'
import type { WriterListeners } from '../../publish/door/writer.ts'
import { copiedCounter, gauge } from '../../serve/metrics/metrics.ts'
import type { LogLines } from '../log-lines/log-lines.ts'

/** Listeners to what the writer says about its cluster. */
type ClusterTelling = Pick<WriterListeners, 'onFollowed' | 'onCluster' | 'onNotice'>

export type TellingSettings = Readonly<{
  /** Metrics of this process; null for a node that is alone, which has no cluster to measure. */
  registry: Registry | null
  lines: LogLines
  metrics: Readonly<{ followed(events: number): void }>
  /** Tells the serving threads. */
  show(report: ClusterReport): void
  monotonicMs(): number
}>

/** Time between two lines about an engine that takes no connection. */
const AWAY_LINE_MS = 60_000
/** Difference of the clocks from which a line says so. */
const OFFSET_SAID_MS = 1_000

/** Opens the metrics and log lines about a node's cluster. */
export function openClusterTelling({
  registry,
  lines,
  metrics,
  show,
  monotonicMs,
}: TellingSettings): ClusterTelling {
  let report: ClusterReport | null = null
  let saidFaults = ''
  const sayWriters = openWriterLines(lines)
  let differed = false
  const sayNotice = openNoticeLines(lines, monotonicMs)
  if (registry !== null) watchCluster(registry, () => report)
  return {
    onFollowed: ({ events }) => metrics.followed(events),
    onCluster(news) {
      report = news
      show(news)
      sayWriters(news)
      const faults = news.faults.join('; ')
      if (faults !== saidFaults && faults !== '') lines.say('engine-fault', { reason: faults })
      saidFaults = faults
      const ms = Math.abs(Math.round(news.offsetMs ?? 0))
      if (ms >= OFFSET_SAID_MS && !differed) lines.say('engine-clock', { ms })
      differed = ms >= OFFSET_SAID_MS
    },
    onNotice: sayNotice,
  }
}

/** Registers the metrics of a node's cluster, which are read at each collection. */
function watchCluster(registry: Registry, read: () => ClusterReport | null): void {
  gauge(
    registry,
    'daybook_log_lag_commits',
    'Commits of the whole log that this node has not applied',
    () => read()?.lag ?? 0,
  )
  gauge(
    registry,
    'daybook_append_unsettled_seconds',
    'Age of a commit whose outcome is not known',
    () => (read()?.unsettledMs ?? 0) / 1_000,
  )
  copiedCounter(
    registry,
    'daybook_append_unknown_total',
    'Attempts to append a commit whose outcome was not known at once',
    () => read()?.unknownTotal ?? 0,
  )
  copiedCounter(
    registry,
    'daybook_void_total',
    'Messages that did not continue the log',
    () => read()?.voidTotal ?? 0,
  )
  copiedCounter(
    registry,
    'daybook_marks_refused_total',
    'Marks on the engine that no writer of this log has told just now',
    () => read()?.refusedMarks ?? 0,
  )
  gauge(
    registry,
    'daybook_writer_faults',
    'Other writers that share a name or a key, or have other settings',
    () => read()?.writers.filter(({ fault }) => fault !== null).length ?? 0,
  )
  gauge(
    registry,
    'daybook_writers_heard',
    'Other writers of the log that were heard lately',
    () => read()?.writers.filter(({ isSilent }) => !isSilent).length ?? 0,
  )
  gauge(
    registry,
    'daybook_writers_silent',
    'Known other writers of the log that were not heard lately',
    () => read()?.writers.filter(({ isSilent }) => isSilent).length ?? 0,
  )
  gauge(
    registry,
    'daybook_engine_clock_offset_seconds',
    'Clock of the engine minus that of this machine',
    () => (read()?.offsetMs ?? Number.NaN) / 1_000,
  )
  gauge(
    registry,
    'daybook_engine_faults',
    'Settings of the engine that are not as they must be',
    () => read()?.faults.length ?? 0,
  )
}

/** Writes a line when another writer begins to have a fault. */
function openWriterLines(lines: LogLines): (report: ClusterReport) => void {
  let said = new Set<string>()
  return ({ writers }) => {
    const faults = writers.flatMap(({ name, fault }) => (fault === null ? [] : [{ name, fault }]))
    for (const { name, fault } of faults) {
      if (said.has(`${fault} ${name}`)) continue
      if (fault === 'settings') lines.say('writer-settings', { words: name })
      else lines.say('writer-twin', { words: name, fault })
    }
    said = new Set(faults.map(({ name, fault }) => `${fault} ${name}`))
  }
}

/** Writes a line about what a node notices of its engine. */
function openNoticeLines(lines: LogLines, monotonicMs: () => number): (notice: ClusterNotice) => void {
  let awayMs = Number.NEGATIVE_INFINITY
  return (notice) => {
    switch (notice.is) {
      case 'unconnected':
        if (monotonicMs() - awayMs < AWAY_LINE_MS) return
        awayMs = monotonicMs()
        return lines.say('engine-away', { reason: notice.reason })
      case 'changed':
        return lines.say('engine-changed', { reason: notice.what })
      case 'heard':
        if (notice.silent.length === 0) return lines.say('writers-heard', {})
        return lines.say('writers-silent', { words: notice.silent.join(', ') })
      case 'offered-again':
        return lines.say('offered-again', { count: notice.messages })
      case 'evidence':
        return lines.say('fork-kept', { count: notice.messages })
      case 'stopped':
        return lines.say('log-stopped', { fault: notice.why, place: notice.place, reason: notice.reason })
      case 'left':
        return lines.say('commit-left', {})
      case 'local-failure':
        return lines.say('commit-unwritten', { reason: notice.reason })
    }
  }
}
