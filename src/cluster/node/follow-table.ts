import {
  type ClusterNodeSettings,
  type CommitAnswer,
  type NodeStop,
  NodeStopped,
  RowFault,
} from './cluster-node.ts'
import { type LeadSession, type TableRow, UNPROVED } from '../table/log-table.ts'
import { READ_BYTES_MAX, refuseFork } from './fork-branches.ts'
import type { TableWatch } from './table-watch.ts'
import type { Wakeups } from './wakeups.ts'

/** Milliseconds without a confirmation by a standby after which a node reports it. */
const UNPROVED_MS = 5_000

/** A commit that waits for the leader. */
export type CommitJob = Readonly<{
  /** Builds in the open transaction. Returns the function that answers the commit when it is durable. */
  build(): () => void
  refuse(refusal: Exclude<CommitAnswer<unknown>, { is: 'committed' }>): void
  fail(error: unknown): void
}>

/** One node, and its state. */
export type Machine = {
  readonly settings: ClusterNodeSettings
  readonly signal: AbortSignal
  readonly wakeups: Wakeups
  readonly watch: TableWatch
  readonly jobs: CommitJob[]
  /** Session of the lock while this node leads; null otherwise. */
  session: LeadSession | null
  stopped: NodeStop | null
  /** Reason why the last read of the table failed; null when it succeeded. */
  away: string | null
  /** Reason why the database did not allow this node to lead the last time; null when it did. */
  barred: string | null
  /** Reason why the last take-over failed; null when it succeeded. */
  unfit: string | null
  /** Reason why this node's clock forbids leading, by the last measurement; null when it does not. */
  clock: string | null
  /** The database's clock minus ours; null before it was measured. */
  offsetMs: number | null
  /** Moment of the monotonic clock before which this node does not try to lead again. */
  tryMs: number
  /** Time since which no standby confirms this node's reads (null when one does), and whether that is reported. */
  unprovedMs: number | null
  isUnproved: boolean
  /** Whether the disk of this node failed the last time. */
  isFailing: boolean
  unknownTotal: number
  takeoverTotal: number
  putBackTotal: number
}

/** Applies everything that the table has. */
export async function followTable(machine: Machine): Promise<void> {
  const { settings, signal, watch } = machine
  const { book, table } = settings
  while ((await takeRows(machine, table)) > 0 && !signal.aborted);
  const { place, digest } = book.applied()
  // A later row would reveal a contradiction by its `prev`. Without a later row, only this query does.
  if (watch.last() === place && !watch.isCompared()) await refuseFork(table, place, digest)
  if (watch.last() >= place) watch.compared()
  machine.away = null
}

/** Reads the table once, and applies its new rows. Returns their number. */
export async function takeRows(machine: Machine, from: Pick<LeadSession, 'look'>): Promise<number> {
  const { place } = machine.settings.book.applied()
  const look = await from.look(place + 1, READ_BYTES_MAX, place)
  machine.watch.note(look, place)
  // The node that leads now shows that this reason is outdated.
  if (machine.watch.isLed()) machine.barred = null
  noteProof(machine, look.isProved)
  if (look.rows.length > 0) apply(machine, look.rows)
  else if (look.isProved && look.last > place) {
    const reason = `the table no longer has the row at place ${place + 1}: start this node from a newer backup, or with an empty directory`
    throw new NodeStopped({ is: 'lost', place: place + 1, reason })
  }
  return look.rows.length
}

/**
 * Reports that no standby has confirmed this node's reads for some seconds. Attempts to lead cannot show this: the
 * session of a leader that is gone may wait for the standby and keep the lock.
 */
export function noteProof(machine: Machine, isProved: boolean): void {
  const { onNotice, timers } = machine.settings
  const nowMs = timers.now()
  machine.unprovedMs = isProved ? null : (machine.unprovedMs ?? nowMs)
  const isUnproved = machine.unprovedMs !== null && nowMs - machine.unprovedMs >= UNPROVED_MS
  if (isUnproved && !machine.isUnproved) onNotice({ is: 'away', reason: UNPROVED })
  machine.isUnproved = isUnproved
}

function apply(machine: Machine, rows: readonly TableRow[]): void {
  const { book, onBooks } = machine.settings
  try {
    book.apply(rows)
  } catch (error) {
    if (!(error instanceof RowFault)) throw error
    const good = rows.filter(({ place }) => place < error.place)
    if (good.length > 0) apply(machine, good)
    const is = error.isOfOtherBranch ? 'fork' : 'fault'
    const reason = `the row at place ${error.place} does not continue the log: ${error.message}`
    throw new NodeStopped({ is, place: error.place, reason })
  }
  machine.isFailing = false
  onBooks('applied')
  machine.wakeups.advance(book.applied().place)
  refuseEnded(machine)
}

/** Stops the node when the log was taken off its table. */
export function refuseEnded({ settings: { book } }: Machine): void {
  if (!book.isEnded()) return
  const reason =
    'the log was taken off its table with daybook cluster move --back: serve it from the node that did so'
  throw new NodeStopped({ is: 'ended', place: book.applied().place, reason })
}
