import type { WriterListeners } from '../../publish/door/writer.ts'
import type { LogLines } from '../log-lines/log-lines.ts'

/** Listeners to what the writer says about its cluster. */
type ClusterTelling = Pick<WriterListeners, 'onFollowed' | 'onCluster' | 'onNotice'>

export function openClusterTelling(
  _lines: LogLines,
  metrics: Readonly<{ followed(events: number): void }>,
): ClusterTelling {
  return {
    onFollowed: ({ events }) => metrics.followed(events),
    onCluster: () => undefined,
    onNotice: () => undefined,
  }
}
