import type { LogTable, PrimaryIdentity, TableRow } from '../table/log-table.ts'
import type { NodeStop } from './cluster-node.ts'
import type { NodeBook } from './node-book.ts'

/** Parts of a node, and its surroundings. */
export type ClusterNodeSettings = Readonly<{
  /** The table of the log. The node disposes it when it stops or is closed, so that it no longer shows a place. */
  table: LogTable
  book: NodeBook
  /** Keeps the branches of a fork. */
  evidence: BranchEvidence
  timers: NodeTimers
  /** The primary that this node has used last, also before its start; null for none. */
  primary: PrimaryIdentity | null
  /** Whether this node may lead, as far as its disk, its clock and its stop are concerned. */
  accepts(): boolean
  /** Whether an error of the books passes by itself, as a full disk does. */
  mayRetry(error: unknown): boolean
  /** Called after each change of the books. What was read from them before is outdated. */
  onBooks(change: NodeChange): void
  onNotice(notice: NodeNotice): void
}>

/** `applied` and `undone` outdate what was read before. */
type NodeChange = 'committed' | 'applied' | 'undone'

/** Rows of both branches of a fork, in order, from the first place where they differ: of this node, and of the table. */
export type Branches = Readonly<Record<'ours' | 'table', readonly TableRow[]>>

type BranchEvidence = Readonly<{
  /** Makes both branches durable. Keeps no branch twice. May throw. */
  keep(branches: Branches): void
}>

/** The clock and timers of the runtime. */
export type NodeTimers = Readonly<{
  /** Milliseconds of the monotonic clock. */
  now(): number
  /** Rejects when the signal is aborted. */
  sleep(ms: number, signal: AbortSignal): Promise<unknown>
}>

/** Notices of a node, for log lines. */
export type NodeNotice =
  | Readonly<{ is: 'leads'; place: number }>
  /** It led, and does so no longer. */
  | Readonly<{ is: 'left'; reason: string }>
  | Readonly<{ is: 'away'; reason: string }>
  /** The table has fewer rows than before, or is on another server or timeline. */
  | Readonly<{ is: 'changed'; reason: string }>
  | Readonly<{ is: 'put-back'; rows: number }>
  | Readonly<{ is: 'clock'; offsetMs: number }>
  | Readonly<{ is: 'evidence'; rows: number }>
  | Readonly<{ is: 'local-failure'; error: unknown }>
  | (Readonly<{ is: 'stopped' }> & Readonly<{ cause: NodeStop }>)

/** Ends the work of a node until an operator acts. */
export class NodeStopped extends Error {
  override readonly name = 'NodeStopped'
  readonly stop: NodeStop

  constructor(stop: NodeStop) {
    super(stop.reason)
    this.stop = stop
  }
}
