import { reasonOf } from '../../protocol/error-reason.ts'
import { type LeadSession, TableError, type TableRow, UNPROVED } from '../table/log-table.ts'
import {
  type ClusterNode,
  type ClusterNodeSettings,
  type ClusterNodeState,
  type CommitAnswer,
  type NodeBook,
  type NodeStop,
  NodeStopped,
  RowFault,
} from './cluster-node.ts'
import { READ_BYTES_MAX, readBranches, refuseFork } from './fork-branches.ts'
import { clockRefusal, lead, type Leadership, openLeadership, submit } from './lead-commits.ts'
import { type Wakeups, openWakeups } from './wakeups.ts'
import { openTableWatch, type TableWatch } from './table-watch.ts'
import { sha256 } from '../../log/tree/signer.ts'

/** Time between two looks of a node that follows, in milliseconds. */
const FOLLOW_MS = 200
/** Time after an attempt to lead that the database did not allow, in milliseconds: each opens sessions to all servers. */
const BARRED_MS = 1_000
/** Time between two attempts to keep the evidence of a fork, in milliseconds. */
const EVIDENCE_MS = 1_000
/** Time in which no standby confirms what a node sees, in milliseconds, after which it says so. */
const UNPROVED_MS = 5_000
/** Longest wait until the books reach the end of the table, in milliseconds. */
const BARRIER_MS_MAX = 5_000

/** One node, and what it knows. */
type Machine = {
  readonly settings: ClusterNodeSettings
  readonly signal: AbortSignal
  readonly wakeups: Wakeups
  readonly watch: TableWatch
  readonly leading: Leadership
  stopped: NodeStop | null
  /**
   * Reasons for which the table could not be read the last time, the database could not be led, and this node not take over;
   * null when they could.
   */
  away: string | null
  barred: string | null
  /** Moment of the monotonic clock before which this node does not try to lead again. */
  tryMs: number
  unfit: string | null
  /** Moment since which no standby confirms what this node sees, and whether that is told; null when one does. */
  unprovedMs: number | null
  isUnproved: boolean
  /** Whether the disk of this node failed the last time. */
  isFailing: boolean
  putBackTotal: number
}

/**
 * Opens one node of a log on a table. It follows the table. When nobody leads it takes the lock, reads to the end, proves
 * that this is the end, and leads: each commit is a row that is appended before it is committed here. It leads until the
 * session of the lock is lost or an append is in doubt, and then follows again.
 */
export function openClusterNode(settings: ClusterNodeSettings): ClusterNode {
  const closing = new AbortController()
  const wakeups = openWakeups(settings.timers)
  const watch = openTableWatch({ ...settings, now: settings.timers.now })
  const machine: Machine = {
    settings,
    signal: closing.signal,
    wakeups,
    watch,
    leading: openLeadership(settings, wakeups, watch),
    stopped: null,
    away: null,
    barred: null,
    tryMs: 0,
    unfit: null,
    unprovedMs: null,
    isUnproved: false,
    isFailing: false,
    putBackTotal: 0,
  }
  const running = run(machine)
  return {
    async commit(build) {
      const { stopped, leading } = machine
      if (stopped !== null) return { is: 'stopped', reason: stopped.reason }
      // A leader whose clock is right would take the drafts.
      if (leading.session === null && leading.clock !== null && !watch.isLed())
        return { is: 'clock', reason: leading.clock }
      return leading.session === null ? notLeading(machine) : await submit(leading, build)
    },
    barrier: () => reachEnd(machine).catch(() => false),
    state: () => stateOf(machine),
    async [Symbol.asyncDispose]() {
      closing.abort()
      wakeups.wake()
      await running
    },
  }
}

async function run(machine: Machine): Promise<void> {
  const { wakeups, settings, signal, watch } = machine
  const { book, table } = settings
  while (!signal.aborted && machine.stopped === null) {
    try {
      refuseEnded(machine)
      await follow(machine)
      const { place } = book.applied()
      // Others wait until a node that shows rows which the table lacks has put them back. That needs no room on its disk.
      const wants = settings.accepts() || place > watch.last()
      const mayTry = wants && settings.timers.now() >= machine.tryMs
      if (mayTry && watch.refusalToTry(place) === null) await tryToLead(machine)
    } catch (error) {
      fail(machine, error)
    }
    await wakeups.wait(FOLLOW_MS, signal)
  }
  if (machine.stopped?.is === 'fork') await keepEvidence(machine)
  // A node that works no longer shows no place, for which others would wait.
  await table[Symbol.asyncDispose]()
}

/** Applies all that the table has. */
async function follow(machine: Machine): Promise<void> {
  const { settings, signal, watch } = machine
  const { book, table } = settings
  while ((await advance(machine, table)) > 0 && !signal.aborted);
  const { place, digest } = book.applied()
  // A row behind it would show a contradiction by its `prev`. Without such a row, only this question does.
  if (watch.last() === place && !watch.isCompared()) await refuseFork(table, place, digest)
  if (watch.last() >= place) watch.compared()
  machine.away = null
}

/** Looks at the table once, and applies what it shows. Returns the number of rows. */
async function advance(machine: Machine, from: Pick<LeadSession, 'look'>): Promise<number> {
  const { place } = machine.settings.book.applied()
  const look = await from.look(place + 1, READ_BYTES_MAX, place)
  machine.watch.note(look, place)
  // The reason that kept this node from leading is over.
  if (machine.watch.isLed()) machine.barred = null
  noteProof(machine, look.isProved)
  if (look.rows.length > 0) apply(machine, look.rows)
  else if (look.isProved && look.last > place) throw new NodeStopped(missingRow(place + 1))
  return look.rows.length
}

/**
 * Tells when no standby confirms for some seconds what this node sees. The session of a leader that is gone may wait for the
 * standby and keep the lock, so that no attempt to lead finds this out.
 */
function noteProof(machine: Machine, isProved: boolean): void {
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

/** Tries to lead. A database that cannot be led may be followed: it is told once, and not again after each look. */
async function tryToLead(machine: Machine): Promise<void> {
  try {
    await takeOver(machine)
    machine.barred = null
  } catch (error) {
    if (!(error instanceof TableError)) throw error
    if (machine.barred !== error.message) machine.settings.onNotice({ is: 'away', reason: error.message })
    machine.barred = error.message
    machine.tryMs = machine.settings.timers.now() + BARRED_MS
  }
}

/** Takes the lock, meets the table, and leads. A node that finds newer rows of another one gives the lock back. */
async function takeOver(machine: Machine): Promise<void> {
  const { leading, settings, signal, watch } = machine
  const { book, onNotice, table } = settings
  const session = await table.lead(book.applied().place)
  machine.unfit = null
  if (session === null) return
  try {
    const count = await meetTable(machine, session)
    noteProof(machine, true)
    if (count > 0) onNotice({ is: 'put-back', rows: count })
    machine.putBackTotal += count
    machine.unfit = watch.refusalToAppend(book.applied().place) ?? (await clockRefusal(leading, session))
    if (!settings.accepts()) return
    if (machine.unfit !== null || (await lead(leading, session, signal)) !== null) watch.failed()
  } catch (error) {
    watch.failed()
    throw error
  } finally {
    await session[Symbol.asyncDispose]()
  }
}

function fail(machine: Machine, error: unknown): void {
  const { book, mayRetry, onNotice } = machine.settings
  if (error instanceof TableError) {
    if (machine.away !== error.message) onNotice({ is: 'away', reason: error.message })
    machine.away = error.message
  } else if (mayRetry(error)) {
    if (!machine.isFailing) onNotice({ is: 'local-failure', error })
    machine.isFailing = true
  } else {
    const reason = `this node failed: ${reasonOf(error)}`
    const cause =
      error instanceof NodeStopped
        ? error.stop
        : ({ is: 'local', place: book.applied().place, reason } as const)
    machine.stopped = cause
    onNotice({ is: 'stopped', cause })
  }
}

/** Keeps both branches, as soon as the table can be read. */
async function keepEvidence({ wakeups, settings, signal }: Machine): Promise<void> {
  const { book, evidence, onNotice, table } = settings
  while (!signal.aborted) {
    try {
      const branches = await readBranches(book, table)
      evidence.keep(branches)
      return onNotice({ is: 'evidence', rows: branches.ours.length + branches.table.length })
    } catch (error) {
      if (!(error instanceof TableError)) return onNotice({ is: 'local-failure', error })
    }
    await wakeups.wait(EVIDENCE_MS, signal)
  }
}

/** Whether the books reach what the table has now. A node that follows believes only a proved answer. */
async function reachEnd({ wakeups, leading, settings, stopped }: Machine): Promise<boolean> {
  const { book, table } = settings
  if (stopped !== null) return false
  const { place } = book.applied()
  const { session } = leading
  const look = session === null ? await table.look(place + 1, 1, place) : null
  if (look !== null && !look.isProved) return false
  const last = look === null ? await session?.barrier() : look.last
  wakeups.wake()
  // Rows that the table lacks are put back. Until then its end is not that of the log, and readers have seen more.
  if (last === undefined || last < Math.max(place, look?.shown ?? 0)) return false
  return await wakeups.reached(last, book.applied().place, BARRIER_MS_MAX)
}

/** Refusal with the reason why this node does not lead. What the database has said is for the log lines. */
function notLeading(machine: Machine): CommitAnswer<never> {
  const { away, refusal } = stateOf(machine)
  const why = away === null ? refusal : 'the database cannot be used: see its log lines'
  return { is: 'not-leading', reason: `this node does not lead the log (${why}); nothing was published` }
}

function stateOf(machine: Machine): ClusterNodeState {
  const { barred, leading, putBackTotal, settings, stopped, unfit, watch } = machine
  const end = settings.book.applied()
  const leads = leading.session !== null
  const unproved = machine.isUnproved ? UNPROVED : null
  const away = machine.away ?? (leads || watch.isLed() ? unproved : (barred ?? unproved))
  const waiting = watch.isLed() ? null : unfit
  const ready = settings.accepts()
    ? 'no node leads: this one is taking over'
    : 'this node takes no drafts now'
  const following = away ?? waiting ?? watch.refusalToTry(end.place) ?? ready
  return {
    leads,
    end,
    last: Math.max(watch.last(), end.place),
    refusal: stopped === null ? (leads ? null : following) : stopped.reason,
    isLedElsewhere: !leads && watch.isLed(),
    stopped,
    away,
    offsetMs: leading.offsetMs,
    unknownTotal: leading.unknownTotal,
    takeoverTotal: leading.takeoverTotal,
    putBackTotal,
  }
}

function refuseEnded({ settings: { book } }: Machine): void {
  if (!book.isEnded()) return
  const reason =
    'the log was taken off its table with daybook cluster move --back: serve it from the node that did so'
  throw new NodeStopped({ is: 'ended', place: book.applied().place, reason })
}

const EMPTY =
  'the table is empty: give the address of the database that has this log, or move the log onto this one with daybook cluster move'

/**
 * Brings books and table to the same end, in the session of the lock. Returns how many rows of this node it has put back
 * into a table that has lost them. Throws a `NodeStopped` for a table that contradicts the books.
 */
async function meetTable(machine: Machine, session: LeadSession): Promise<number> {
  const { book } = machine.settings
  while ((await advance(machine, session)) > 0);
  // A server that was replaced may have told these rows. The barrier proves that it is the primary, and that everything
  // that anyone was told to be appended is at or below its answer.
  const end = await session.barrier()
  while (book.applied().place < end) {
    if ((await advance(machine, session)) === 0)
      throw new TableError(`the table does not show the row at place ${book.applied().place + 1}`)
  }
  const { place, digest } = book.applied()
  if (place > end) return await putBack(session, book, end)
  await refuseFork(session, place, digest)
  return 0
}

/** Puts the rows after a place back: same bytes, same places. */
async function putBack(session: LeadSession, book: NodeBook, end: number): Promise<number> {
  const { place } = book.applied()
  if (end === 0) throw new NodeStopped({ is: 'lost', place: 1, reason: EMPTY })
  const [newest, ...missing] = book.kept(end)
  if (newest?.place !== end) {
    const reason = `the table ends at place ${end}, and this node keeps only the rows from place ${newest?.place ?? place} on: restore a newer backup of the database`
    throw new NodeStopped({ is: 'lost', place: end + 1, reason })
  }
  await refuseFork(session, end, sha256(newest.bytes))
  for (const row of missing) {
    const answer = await session.append(row.place, row.bytes)
    if (answer !== 'appended')
      throw new TableError(`the table does not take the row at place ${row.place} again`)
  }
  return missing.length
}

/** Stop of a node whose next row the table has no longer. */
function missingRow(place: number): NodeStop {
  const reason = `the table no longer has the row at place ${place}: start this node from a newer backup, or with an empty directory`
  return { is: 'lost', place, reason }
}
