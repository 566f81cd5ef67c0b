import { reasonOf } from '../../protocol/error-reason.ts'
import type { NodeNotice, NodeStop } from '../node/cluster-node.ts'

/** News of a node for the main thread. They can be passed between threads. */
export type ClusterNews =
  /** Report of the node about itself, every second. */
  Readonly<{ is: 'report'; report: ClusterReport }> | Readonly<{ is: 'notice'; notice: ClusterNotice }>

/** Report of a node about itself. */
export type ClusterReport = Readonly<{
  leads: boolean
  /** Rows of the table that this node is known not to have applied. */
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

/** The notice without an error, which cannot be passed. */
export function noticeOf(notice: NodeNotice): ClusterNotice {
  if (notice.is === 'local-failure') return { is: 'local-failure', reason: reasonOf(notice.error) }
  if (notice.is !== 'stopped') return notice
  const { is: why, place, reason } = notice.cause
  return { is: 'stopped', why, place, reason }
}
