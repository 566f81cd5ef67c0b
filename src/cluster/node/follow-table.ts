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

/** Time in which no standby confirms what a node sees, in milliseconds, after which it says so. */
const UNPROVED_MS = 5_000

/** A commit that waits for the leader. */
export type CommitJob = Readonly<{
  /** Builds in the open transaction. Returns what answers the commit when it is durable. */
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
  /** The session of the lock while this node leads; null otherwise. */
  session: LeadSession | null
  stopped: NodeStop | null
  /** Reason why the table could not be read the last time; null when it could. */
  away: string | null
  /** Reason why the database could not be led the last time; null when it could. */
  barred: string | null
  /** Reason why this node could not take over the last time; null when it could. */
  unfit: string | null
  /** Reason why this node must not lead by its clock, as the last measurement showed; null when it may. */
  clock: string | null
  /** The database's clock minus ours; null before it was measured. */
  offsetMs: number | null
  /** Moment of the monotonic clock before which this node does not try to lead again. */
  tryMs: number
  /** Moment since which no standby confirms what this node sees, and whether that is reported; null when one does. */
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
  // A row behind it would show a contradiction by its `prev`. Without such a row, only this question does.
  if (watch.last() === place && !watch.isCompared()) await refuseFork(table, place, digest)
  if (watch.last() >= place) watch.compared()
  machine.away = null
}

/** Looks at the table once, and applies what it shows. Returns the number of rows. */
export async function takeRows(machine: Machine, from: Pick<LeadSession, 'look'>): Promise<number> {
  const { place } = machine.settings.book.applied()
  const look = await from.look(place + 1, READ_BYTES_MAX, place)
  machine.watch.note(look, place)
  // The reason that kept this node from leading is over.
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
 * Reports when no standby confirms for some seconds what this node sees. The session of a leader that is gone may wait for
 * the standby and keep the lock, so that no attempt to lead finds this out.
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
