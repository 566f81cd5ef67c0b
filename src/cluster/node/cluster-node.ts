import type { LogTable, PrimaryIdentity, TableRow } from '../table/log-table.ts'

/** Node of a log that a table carries. It follows the table, or leads. */
export type ClusterNode = AsyncDisposable &
  Readonly<{
    /**
     * Runs `build` once in a transaction on the newest books, and appends its changes. Resolves with `committed` only
     * when the row is on the standbys and in the books. Without changes it resolves after a barrier that began after
     * `build`. Rejects with the errors of `build`.
     */
    commit<Value>(build: () => Value): Promise<CommitAnswer<Value>>
    /** Whether everything that the table had at the time of the call is applied here. False when that is unknown. */
    barrier(): Promise<boolean>
    state(): ClusterNodeState
  }>

/**
 * - `not-leading`: another node leads, or none does yet. Nothing was published: ask another node.
 * - `unknown`: it may be published. The same refs can be sent again, to any node.
 * - `clock`, `stopped`: nothing was published.
 */
export type CommitAnswer<Value> =
  | Readonly<{ is: 'committed'; value: Value }>
  | Readonly<{ is: 'not-leading' | 'unknown' | 'clock' | 'stopped'; reason: string }>

/** State of a node, for `/readyz`, `/status` and metrics. */
export type ClusterNodeState = Readonly<{
  leads: boolean
  end: NewestRow
  /** The newest place that the table has shown. */
  last: number
  /** Reason why this node accepts no drafts now, as text; null when it does. */
  refusal: string | null
  /** Whether another node leads now, as of the last read. */
  isLedElsewhere: boolean
  /** Reason of a stop until an operator acts; null while the node works. */
  stopped: NodeStop | null
  /** Whether the last attempt to reach the table failed, and why. */
  away: string | null
  /** The database's clock minus ours in milliseconds; null before it was measured. */
  offsetMs: number | null
  /** Number of commits with unknown outcome, of take-overs, and of rows that this node has put back. */
  unknownTotal: number
  takeoverTotal: number
  putBackTotal: number
}>

/**
 * Reason for which a node serves its old head and signs nothing until an operator acts.
 *
 * - `fault`: a row does not continue the log, or this program cannot read it.
 * - `fork`: the table has another row at a place that this node has applied.
 * - `lost`: the table lost more rows than this node has kept, or is empty.
 * - `ended`: the log was taken off its table.
 * - `local`: the disk or the program of this node failed.
 */
export type NodeStop = Readonly<{
  is: 'fault' | 'fork' | 'lost' | 'ended' | 'local'
  place: number
  reason: string
}>

/** Newest row in the books: its place, 0 before the first, and the SHA-256 of its bytes. */
export type NewestRow = Readonly<{ place: number; digest: Uint8Array }>

/** Books of one node, which rows change. Every call is synchronous, and may throw disk errors. */
export type NodeBook = Readonly<{
  applied(): NewestRow
  /** Opens the transaction in which a commit is built. */
  begin(): void
  /** Bytes of the changes since `begin`, as a row for the next place; null when nothing changed. */
  row(): Uint8Array | null
  /** Makes the changes durable and visible: signs the tree, keeps the bytes, commits. */
  commit(bytes: Uint8Array): void
  /** Undoes everything since `begin`. */
  rollback(): void
  /**
   * Applies the next rows in one transaction, at most `LOOK_ROWS_MAX`. Throws a `RowFault` for a row that does not
   * continue these books; then none is applied.
   */
  apply(rows: readonly TableRow[]): void
  /** Newest rows from a place on, in order, as far as they are kept. */
  kept(from: number): readonly TableRow[]
  /** Whether the newest row takes the log off its table (`cluster move --back`). */
  isEnded(): boolean
}>

/** A row that does not continue the books of this node. */
export class RowFault extends Error {
  override readonly name = 'RowFault'
  readonly place: number
  /** Whether a node of this log made it for this place, but after another row than these books have. */
  readonly isOfOtherBranch: boolean

  constructor(place: number, reason: string, isOfOtherBranch = false) {
    super(reason)
    this.place = place
    this.isOfOtherBranch = isOfOtherBranch
  }
}

/** Parts of a node, and its surroundings. */
export type ClusterNodeSettings = Readonly<{
  /** Table of the log. The node disposes of it when it stops or is closed, so that it no longer shows a place. */
  table: LogTable
  book: NodeBook
  /** Keeps the branches of a fork. */
  evidence: BranchEvidence
  timers: NodeTimers
  /** Primary that this node has used last, including before its start; null for none. */
  primary: PrimaryIdentity | null
  /** Whether this node's disk, clock and state allow it to lead. */
  accepts(): boolean
  /** Whether an error of the books is temporary, such as a full disk. */
  mayRetry(error: unknown): boolean
  /** Called after each change of the books. Earlier reads are outdated. */
  onBooks(change: NodeChange): void
  onNotice(notice: NodeNotice): void
}>

/** Change of the books. After `applied` and `undone` earlier reads are outdated. */
type NodeChange = 'committed' | 'applied' | 'undone'

/** Rows of both branches of a fork, in order, from the first place where they differ: this node's and the table's. */
export type Branches = Readonly<Record<'ours' | 'table', readonly TableRow[]>>

type BranchEvidence = Readonly<{
  /** Makes both branches durable. Stores no branch twice. May throw. */
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
