import { reasonOf } from '../../protocol/error-reason.ts'
import type { ReplicaNotice } from '../replica/replica-notice.ts'
import type { StopCause } from '../replica/replica-stop.ts'

/** Notice of a node about its engine and its log, for log lines. It can be passed between threads. */
export type ClusterNotice =
  | Exclude<ReplicaNotice, { is: 'stopped' | 'local-failure' }>
  | Readonly<{ is: 'stopped'; why: StopCause['is']; place: number; reason: string }>
  | Readonly<{ is: 'local-failure'; reason: string }>
  /** The node ends with a commit whose outcome is not known. */
  | Readonly<{ is: 'left' }>
  /** The engine takes no connection. */
  | Readonly<{ is: 'unconnected'; reason: string }>

export function noticeOf(notice: ReplicaNotice): ClusterNotice {
  switch (notice.is) {
    case 'stopped': {
      const { is: why, place, reason } = notice.cause
      return { is: 'stopped', why, place, reason }
    }
    case 'local-failure':
      return { is: 'local-failure', reason: reasonOf(notice.error) }
    case 'evidence':
    case 'offered-again':
    case 'heard':
    case 'changed':
      return notice
  }
}
