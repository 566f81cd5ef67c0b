import type { Cluster } from '../../protocol/cluster-resource.ts'
import { floorTo, moment, msOf, SECOND_MS } from '../../protocol/moment.ts'
import type { ClusterReport } from '../../publish/cluster/cluster-report.ts'
import type { LogStoreSettings } from '../../publish/cluster/log-store-settings.ts'
import type { ClusterWords } from '../../serve/api/status-route.ts'
import { openReportCell } from './report-cell.ts'

/** Opens the telling to all serving threads about the writers of the log. A node that is alone tells nothing. */
export function openShownCluster(
  logStore: Pick<LogStoreSettings, 'nodeName'> | null,
  memory: Readonly<{ cluster: SharedArrayBuffer }>,
  now: () => number,
): (report: ClusterReport) => void {
  if (logStore === null) return () => undefined
  const cell = openReportCell<Omit<ClusterWords, 'version'>>(memory.cluster)
  cell.write({ cluster: startingCluster(logStore.nodeName) })
  return (report) => cell.write({ cluster: shownCluster(report, now()) })
}

/** The part of a report that everyone may see: names and counts, no words of the engine. */
function shownCluster(report: ClusterReport, nowMs: number): Cluster {
  const { node: name, leads, refusal, lag } = report
  const writers = report.writers.map(({ name: writer, seq, heardMs, isSilent: silent, fault }) => {
    if (!Number.isFinite(heardMs))
      return { name: writer, seq: null, heardAt: null, heardAtMs: null, silent, fault }
    const { at, atMs } = moment(floorTo(msOf(Math.floor(nowMs - heardMs)), SECOND_MS))
    return { name: writer, seq, heardAt: at, heardAtMs: atMs, silent, fault }
  })
  return { name, leads, publishing: refusal === null, reason: refusal, lag, writers }
}

/** Report of a writer whose thread has not reported yet. */
function startingCluster(name: string): Cluster {
  return { name, leads: false, publishing: false, reason: 'starting', lag: 0, writers: [] }
}
