import { reasonOf } from '../../protocol/error-reason.ts'
import { TableError, UNPROVED } from '../table/log-table.ts'
import {
  type ClusterNode,
  type ClusterNodeSettings,
  type ClusterNodeState,
  type CommitAnswer,
  NodeStopped,
} from './cluster-node.ts'
import { followTable, type Machine, refuseEnded } from './follow-table.ts'
import { readBranches } from './fork-branches.ts'
import { openTableWatch } from './table-watch.ts'
import { serveTerm, submitCommit } from './term.ts'
import { openWakeups } from './wakeups.ts'

/** Time between two reads of a following node, in milliseconds. */
const FOLLOW_MS = 200
/**
 * Wait in milliseconds after an attempt to lead that the database refused. Each attempt opens sessions to all servers.
 */
const BARRED_MS = 1_000
/** Time between two attempts to store the evidence of a fork, in milliseconds. */
const EVIDENCE_MS = 1_000
/** Longest wait until the books reach the end of the table, in milliseconds. */
const BARRIER_MS_MAX = 5_000

/**
 * Opens one node of a log on a table. It follows the table. When nobody leads it takes the lock, reads to the end,
 * proves that this is the end, and leads. Each commit of a leader is a row that is appended before it is committed
 * here. It leads until it loses the session of the lock or an append is in doubt, and then follows again.
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
    jobs: [],
    session: null,
    stopped: null,
    away: null,
    barred: null,
    unfit: null,
    clock: null,
    offsetMs: null,
    tryMs: 0,
    unprovedMs: null,
    isUnproved: false,
    isFailing: false,
    unknownTotal: 0,
    takeoverTotal: 0,
    putBackTotal: 0,
  }
  const running = run(machine)
  return {
    async commit(build) {
      const { clock, session, stopped } = machine
      if (stopped !== null) return { is: 'stopped', reason: stopped.reason }
      // A leader whose clock is right would accept the drafts.
      if (session === null && clock !== null && !watch.isLed()) return { is: 'clock', reason: clock }
      return session === null ? notLeading(machine) : await submitCommit(machine, build)
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
      await followTable(machine)
      const { place } = book.applied()
      // If a node has rows that the table lacks, others wait until it has put them back. That needs no room on its
      // disk.
      const wants = settings.accepts() || place > watch.last()
      const mayTry = wants && settings.timers.now() >= machine.tryMs
      if (mayTry && watch.refusalToTry(place) === null) await tryToLead(machine)
    } catch (error) {
      fail(machine, error)
    }
    await wakeups.wait(FOLLOW_MS, signal)
  }
  if (machine.stopped?.is === 'fork') await keepEvidence(machine)
  // A stopped node must show no place, because others would wait for it.
  await table[Symbol.asyncDispose]()
}

/** Tries to lead. Reports only once that it cannot, because a node may follow a database that it cannot lead. */
async function tryToLead(machine: Machine): Promise<void> {
  try {
    await serveTerm(machine)
    machine.barred = null
  } catch (error) {
    if (!(error instanceof TableError)) throw error
    if (machine.barred !== error.message) machine.settings.onNotice({ is: 'away', reason: error.message })
    machine.barred = error.message
    machine.tryMs = machine.settings.timers.now() + BARRED_MS
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

/** Stores both branches as soon as the table can be read. */
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

/** Whether the books reach the current end of the table. A following node trusts only a proved answer. */
async function reachEnd({ wakeups, session, settings, stopped }: Machine): Promise<boolean> {
  const { book, table } = settings
  if (stopped !== null) return false
  const { place } = book.applied()
  const look = session === null ? await table.look(place + 1, 1, place) : null
  if (look !== null && !look.isProved) return false
  const last = look === null ? await session?.barrier() : look.last
  wakeups.wake()
  // Missing rows of the table are put back later. Until then its end is not that of the log, because readers have seen
  // more.
  if (last === undefined || last < Math.max(place, look?.shown ?? 0)) return false
  return await wakeups.reached(last, book.applied().place, BARRIER_MS_MAX)
}

/** Refusal with the reason why this node does not lead. The database's messages are only for log lines. */
function notLeading(machine: Machine): CommitAnswer<never> {
  const { away, refusal } = stateOf(machine)
  const why = away === null ? refusal : 'the database cannot be used: see its log lines'
  return { is: 'not-leading', reason: `this node does not lead the log (${why}); nothing was published` }
}

function stateOf(machine: Machine): ClusterNodeState {
  const { barred, settings, stopped, unfit, watch } = machine
  const end = settings.book.applied()
  const leads = machine.session !== null
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
    offsetMs: machine.offsetMs,
    unknownTotal: machine.unknownTotal,
    takeoverTotal: machine.takeoverTotal,
    putBackTotal: machine.putBackTotal,
  }
}
