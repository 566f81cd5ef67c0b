import type { NewestRow } from './node-book.ts'

/** One node of a log that a table carries: it follows the table, or leads. */
export type ClusterNode = AsyncDisposable &
  Readonly<{
    /**
     * Runs `build` in a transaction on the newest books, and appends what it changed. Runs it once. `committed` is
     * answered only when the row is on the standbys and in the books, or, when nothing changed, after a barrier that began
     * after `build`. Rejects with what `build` throws.
     */
    commit<Value>(build: () => Value): Promise<CommitAnswer<Value>>
    /** Whether everything that the table had at the time of the call is applied here. False when that cannot be known. */
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
  /** Reason why this node takes no drafts now, in words; null when it does. */
  refusal: string | null
  /** Whether another node leads now, as far as the last look shows. */
  isLedElsewhere: boolean
  /** Reason of the stop until an operator acts; null while the node works. */
  stopped: NodeStop | null
  /** Whether the last attempt to reach the table failed, and why. */
  away: string | null
  /** The database's clock minus ours in milliseconds; null before it was measured. */
  offsetMs: number | null
  /** Commits so far whose outcome was unknown, take-overs so far, and rows that this node has put back. */
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
