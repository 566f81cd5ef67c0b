import type { LeadSession, Look } from '../table/log-table.ts'
import type { ClusterNodeSettings, CommitAnswer } from './cluster-node.ts'
import type { Wakeups } from './wakeups.ts'
import type { TableWatch } from './table-watch.ts'

/** Time between two looks of a leader at its own fitness, and between two measurements of the clocks, in milliseconds. */
const LOOK_MS = 1_000
const CLOCK_MS = 10_000
/** Difference of the clocks from which it is told, and from which a node does not lead. */
const CLOCK_TOLD_MS = 1_000
const CLOCK_MS_MAX = 5_000

/** A commit that waits for the leader. */
type Job = Readonly<{
  /** Builds in the open transaction. Returns what answers the commit when it is durable. */
  build(): () => void
  refuse(refusal: CommitRefusal): void
  fail(error: unknown): void
}>

type CommitRefusal = Exclude<CommitAnswer<unknown>, { is: 'committed' }>

/** The part of a node that makes commits while it leads. Its state is read by the rest of the node. */
export type Leadership = {
  readonly settings: ClusterNodeSettings
  readonly wakeups: Wakeups
  readonly watch: TableWatch
  readonly jobs: Job[]
  /** The session of the lock while this node leads; null otherwise. */
  session: LeadSession | null
  /** Reason why this node must not lead by its clock, as the last measurement showed; null when it may. */
  clock: string | null
  /** The database's clock minus ours; null before it was measured. */
  offsetMs: number | null
  unknownTotal: number
  takeoverTotal: number
}

export function openLeadership(
  settings: ClusterNodeSettings,
  wakeups: Wakeups,
  watch: TableWatch,
): Leadership {
  return {
    settings,
    wakeups,
    watch,
    jobs: [],
    session: null,
    clock: null,
    offsetMs: null,
    unknownTotal: 0,
    takeoverTotal: 0,
  }
}

const CLOCK_REFUSAL = `the clocks of this machine and of the database differ by ${CLOCK_MS_MAX / 1_000} s or more: set the wrong one`
const NOT_LEADING: CommitRefusal = {
  is: 'not-leading',
  reason: 'this node does not lead the log; nothing was published',
}
const UNKNOWN: CommitRefusal = {
  is: 'unknown',
  reason: 'the database did not say whether it has the commit: send the same refs again, to any node',
}

/** Asks the leader for a commit. A node that does not lead refuses it at once. */
export function submit<Value>(leading: Leadership, work: () => Value): Promise<CommitAnswer<Value>> {
  if (leading.session === null) return Promise.resolve(NOT_LEADING)
  const { promise, resolve, reject } = Promise.withResolvers<CommitAnswer<Value>>()
  leading.jobs.push({
    build() {
      const value = work()
      return () => resolve({ is: 'committed', value })
    },
    refuse: resolve,
    fail: reject,
  })
  leading.wakeups.wake()
  return promise
}

/**
 * Leads in a session that has met the table, until the session is lost, a commit is in doubt, the clocks differ, or the node
 * may not lead. Returns what went wrong; null when nothing did. Throws what makes the node stop.
 */
export async function lead(
  leading: Leadership,
  session: LeadSession,
  signal: AbortSignal,
): Promise<string | null> {
  const { wakeups, jobs, settings } = leading
  const lost = { is: false }
  void session.lost.then(() => {
    lost.is = true
    wakeups.wake()
  })
  leading.session = session
  leading.takeoverTotal += 1
  settings.onNotice({ is: 'leads', place: settings.book.applied().place })
  let reason: string | null = null
  try {
    let clockMs = settings.timers.now() + CLOCK_MS
    while (reason === null && settings.accepts() && !signal.aborted) {
      const job = jobs.shift()
      if (job !== undefined) reason = await answered(leading, session, job)
      else if (lost.is) reason = 'the session of the lock was lost'
      else if (settings.timers.now() >= clockMs) {
        reason = await clockRefusal(leading, session)
        clockMs = settings.timers.now() + CLOCK_MS
      } else if (await isIdle(leading, signal)) reason = await lookRefusal(leading, session)
    }
    return reason
  } finally {
    leading.session = null
    for (const job of jobs.splice(0)) job.refuse(NOT_LEADING)
    settings.onNotice({ is: 'left', reason: reason ?? 'this node takes no drafts now' })
  }
}

/** Waits for a commit. Returns whether none has come in a second. */
async function isIdle({ wakeups, jobs }: Leadership, signal: AbortSignal): Promise<boolean> {
  await wakeups.wait(LOOK_MS, signal)
  return jobs.length === 0
}

/** Looks whether the table is as this node has left it: an idle leader would not notice otherwise. */
async function lookRefusal({ settings, watch }: Leadership, session: LeadSession): Promise<string | null> {
  const { place } = settings.book.applied()
  const ask = (): Promise<Look | null> => session.look(place + 1, 1, place).catch(() => null)
  const first = await ask()
  // A standby may be slow for once. Without one, nothing can be acknowledged, and the server may have been replaced.
  const look = first?.isProved === false ? await ask() : first
  if (look === null) return 'the table cannot be read'
  watch.note(look, place)
  if (!look.isProved) return 'no synchronous standby confirms the table'
  return look.last === place ? null : `the table ends at place ${look.last}, and this node at ${place}`
}

/** Makes one commit, and answers it also when this node fails meanwhile. */
async function answered(leading: Leadership, session: LeadSession, job: Job): Promise<string | null> {
  try {
    return await commit(leading, session, job)
  } catch (error) {
    // An answer that was given before stays.
    job.refuse(UNKNOWN)
    throw error
  }
}

/** Makes one commit. Returns why this node leads no longer; null when it does. */
async function commit(leading: Leadership, session: LeadSession, job: Job): Promise<string | null> {
  const { book } = leading.settings
  const built = build(leading, job)
  if (built === null) return null
  const { bytes, answer } = built
  const { place } = book.applied()
  if (bytes === null) {
    undo(leading)
    // Nothing fences a commit without a row, such as a refusal: another node may have led meanwhile.
    const isNewest = (await session.barrier().catch(() => null)) === place
    if (isNewest) answer()
    else job.refuse(NOT_LEADING)
    return isNewest ? null : 'a barrier was not confirmed'
  }
  switch (await session.append(place + 1, bytes)) {
    case 'appended':
      return keep(leading, bytes, { job, answer })
    case 'refused':
      job.refuse(NOT_LEADING)
      undo(leading)
      return 'another node has taken over'
    case 'unknown':
      doubt(leading, job)
      undo(leading)
      return 'the outcome of a commit is not known'
  }
}

/** Opens the transaction and builds in it. Null when the work has failed. */
function build(
  leading: Leadership,
  job: Job,
): Readonly<{ bytes: Uint8Array | null; answer: () => void }> | null {
  const { book } = leading.settings
  try {
    book.begin()
    const answer = job.build()
    return { bytes: book.row(), answer }
  } catch (error) {
    job.fail(error)
    undo(leading)
    return null
  }
}

/** Commits here what the table has. When the disk fails, the row is read and applied later, as those of other nodes are. */
function keep(
  leading: Leadership,
  bytes: Uint8Array,
  { job, answer }: Readonly<{ job: Job; answer: () => void }>,
): string | null {
  const { book, mayRetry, onBooks, onNotice } = leading.settings
  try {
    book.commit(bytes)
  } catch (error) {
    doubt(leading, job)
    undo(leading)
    onNotice({ is: 'local-failure', error })
    if (!mayRetry(error)) throw error
    return 'the disk of this node failed'
  }
  onBooks('committed')
  leading.wakeups.advance(book.applied().place)
  answer()
  return null
}

function undo({ settings: { book, onBooks } }: Leadership): void {
  book.rollback()
  onBooks('undone')
}

function doubt(leading: Leadership, job: Job): void {
  leading.unknownTotal += 1
  job.refuse(UNKNOWN)
}

/** Reason why this node must not lead by its clock; null when it may. */
export async function clockRefusal(leading: Leadership, session: LeadSession): Promise<string | null> {
  const measured = await session.clockOffset().catch(() => null)
  if (measured === null) return 'the database does not tell its time'
  const { offsetMs } = measured
  const wasTold = Math.abs(leading.offsetMs ?? 0) >= CLOCK_TOLD_MS
  leading.offsetMs = offsetMs
  if (Math.abs(offsetMs) >= CLOCK_TOLD_MS && !wasTold) leading.settings.onNotice({ is: 'clock', offsetMs })
  const isFar = Math.abs(offsetMs) >= CLOCK_MS_MAX
  leading.clock = isFar ? CLOCK_REFUSAL : null
  return leading.clock
}
