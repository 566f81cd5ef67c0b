import type { Registry } from 'prom-client'
import type { LogLines } from '../../command/log-lines/log-lines.ts'
import type { LogCarrier } from '../../command/plug/option.ts'
import { copiedCounter, gauge } from '../../serve/metrics/metrics.ts'
import type { NodeNotice, NodeStop } from '../node/cluster-node.ts'

/** Report of a node to the main thread: its figures every second, and each notice. It is structured-cloneable. */
export type ClusterReport =
  | Readonly<{ is: 'figures'; figures: ClusterFigures }>
  | Readonly<{ is: 'notice'; notice: ClusterNotice }>

/** Figures of a node. */
export type ClusterFigures = Readonly<{
  leads: boolean
  /** Known number of table rows that this node has not applied. */
  lag: number
  isAway: boolean
  isStopped: boolean
  /** The database's clock minus ours in milliseconds; null before it was measured. */
  offsetMs: number | null
  unknownTotal: number
  takeoverTotal: number
  putBackTotal: number
}>

/** Notice of a node, for log lines. */
export type ClusterNotice =
  | Exclude<NodeNotice, { is: 'local-failure' | 'stopped' }>
  | Readonly<{ is: 'local-failure'; reason: string }>
  | (Readonly<{ is: 'stopped' }> & Readonly<{ why: NodeStop['is']; place: number; reason: string }>)

/** Time between two lines about one reason why the table is unavailable, and the number of remembered reasons. */
const AWAY_LINE_MS = 60_000
const REASONS_MAX = 100

/** Registers the metrics of a node whose log is on a table. Returns the reader of its reports, which writes log lines. */
export function clusterReportReader({
  registry,
  lines,
  context: { monotonicMs },
  show,
}: Parameters<LogCarrier['reportReader']>[0]): (report: ClusterReport) => void {
  let figures: ClusterFigures | null = null
  const logNotice = openNoticeLines(lines, monotonicMs)
  watchCluster(registry, () => figures)
  return (report) => {
    if (report.is === 'notice') return logNotice(report.notice)
    ;({ figures } = report)
    // A row has one event or more, or none.
    show({ state: figures.leads ? 'leader' : 'follower', behind: figures.lag })
  }
}

/** A metric: its name, its help, and its value. */
type Metric = readonly [name: string, help: string, of: (figures: ClusterFigures) => number | boolean]

const GAUGES: readonly Metric[] = [
  ['daybook_log_leads', 'Whether this node leads the log', ({ leads }) => leads],
  ['daybook_log_lag_rows', 'Rows of the table that this node has not applied', ({ lag }) => lag],
  ['daybook_log_table_away', 'Whether the table of the log cannot be used', ({ isAway }) => isAway],
  [
    'daybook_log_stopped',
    'Whether this node has stopped until an operator acts',
    ({ isStopped }) => isStopped,
  ],
]

const COUNTERS: readonly Metric[] = [
  ['daybook_log_takeovers_total', 'Times that this node began to lead the log', (of) => of.takeoverTotal],
  [
    'daybook_log_append_unknown_total',
    'Commits of this node whose outcome was not known at once',
    (of) => of.unknownTotal,
  ],
  [
    'daybook_log_put_back_total',
    'Rows that this node gave to a table which had lost them',
    (of) => of.putBackTotal,
  ],
]

/** Registers the metrics, which are read at each collection. */
function watchCluster(registry: Registry, read: () => ClusterFigures | null): void {
  const valueOf = (of: Metric[2]) => (): number => {
    const figures = read()
    return figures === null ? 0 : Number(of(figures))
  }
  for (const [name, help, of] of GAUGES) gauge(registry, name, help, valueOf(of))
  for (const [name, help, of] of COUNTERS) copiedCounter(registry, name, help, valueOf(of))
  gauge(
    registry,
    'daybook_log_clock_offset_seconds',
    'Clock of the database minus that of this machine',
    () => (read()?.offsetMs ?? Number.NaN) / 1_000,
  )
}

/** Opens the log lines for a node's notices. */
function openNoticeLines(lines: LogLines, monotonicMs: () => number): (notice: ClusterNotice) => void {
  const loggedMs = new Map<string, number>()

  // A node reports a reason only when it changes, so no reason may suppress another one.
  function logAway(reason: string): void {
    const ms = monotonicMs()
    if (ms - (loggedMs.get(reason) ?? Number.NEGATIVE_INFINITY) < AWAY_LINE_MS) return
    if (loggedMs.size >= REASONS_MAX) loggedMs.clear()
    loggedMs.set(reason, ms)
    lines.say('table-away', { reason })
  }

  return (notice) => {
    switch (notice.is) {
      case 'leads':
        return lines.say('log-leads', { place: notice.place })
      case 'left':
        return lines.say('log-left', { reason: notice.reason })
      case 'away':
        return logAway(notice.reason)
      case 'changed':
        return lines.say('table-changed', { reason: notice.reason })
      case 'put-back':
        return lines.say('rows-put-back', { count: notice.rows })
      case 'clock':
        return lines.say('table-clock', { ms: Math.abs(Math.round(notice.offsetMs)) })
      case 'evidence':
        return lines.say('fork-kept', { count: notice.rows })
      case 'local-failure':
        return lines.say('commit-unwritten', { reason: notice.reason })
      case 'stopped':
        return lines.say('log-stopped', { fault: notice.why, place: notice.place, reason: notice.reason })
    }
  }
}
