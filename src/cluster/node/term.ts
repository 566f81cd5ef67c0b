import { sha256 } from '../../log/tree/signer.ts'
import { type LeadSession, type Look, TableError } from '../table/log-table.ts'
import { type CommitAnswer, type NodeBook, NodeStopped } from './cluster-node.ts'
import { type CommitJob, type Machine, noteProof, takeRows } from './follow-table.ts'
import { refuseFork } from './fork-branches.ts'

// One term of a leader, from the lock to its loss. The lock only avoids contention, because each append has its own
// fence.

/** Milliseconds between two checks of a leader whether it may lead, and between two measurements of the clocks. */
const LOOK_MS = 1_000
const CLOCK_MS = 10_000

/** Clock differences from which it is reported, and from which a node does not lead. */
const CLOCK_REPORTED_MS = 1_000
const CLOCK_MS_MAX = 5_000

/**
 * Serves one term, if the lock is free: takes it, brings books and table to the same end, and leads until a failure.
 * Throws a `TableError` when the database cannot be led, and errors that stop the node.
 */
export async function serveTerm(machine: Machine): Promise<void> {
  const { settings, watch } = machine
  const { book, onNotice, table } = settings
  const session = await table.lead(book.applied().place)
  machine.unfit = null
  if (session === null) return
  try {
    const count = await meetTable(machine, session)
    noteProof(machine, true)
    if (count > 0) onNotice({ is: 'put-back', rows: count })
    machine.putBackTotal += count
    machine.unfit = watch.refusalToAppend(book.applied().place) ?? (await clockRefusal(machine, session))
    if (!settings.accepts()) return
    // A node that finds newer rows of another one releases the lock. A node that lost the lead waits for others.
    if (machine.unfit !== null || (await lead(machine, session)) !== null) watch.failed()
  } catch (error) {
    watch.failed()
    throw error
  } finally {
    await session[Symbol.asyncDispose]()
  }
}

/**
 * Brings books and table to the same end, in the session of the lock. Returns the number of this node's rows that it
 * has put back into the table. Throws a `NodeStopped` for a table that contradicts the books.
 */
async function meetTable(machine: Machine, session: LeadSession): Promise<number> {
  const { book } = machine.settings
  while ((await takeRows(machine, session)) > 0);
  // A replaced server may have shown these rows. The barrier proves that it is the primary, and that every acknowledged
  // row is at or below its answer.
  const end = await session.barrier()
  while (book.applied().place < end) {
    if ((await takeRows(machine, session)) === 0)
      throw new TableError(`the table does not show the row at place ${book.applied().place + 1}`)
  }
  const { place, digest } = book.applied()
  if (place > end) return await putBack(session, book, end)
  await refuseFork(session, place, digest)
  return 0
}

const EMPTY =
  'the table is empty: give the address of the database that has this log, or move the log onto this one with daybook cluster move'

/** Puts back the rows after a place: same bytes, same places. */
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

/**
 * Leads in a session after books and table have the same end. Leading ends when the session is lost, a commit is in
 * doubt, the clocks differ, or the node may not lead. Returns the fault; null when there is none. Throws errors that
 * stop the node.
 */
async function lead(machine: Machine, session: LeadSession): Promise<string | null> {
  const { jobs, settings, signal, wakeups } = machine
  const lost = { is: false }
  void session.lost.then(() => {
    lost.is = true
    wakeups.wake()
  })
  machine.session = session
  machine.takeoverTotal += 1
  settings.onNotice({ is: 'leads', place: settings.book.applied().place })
  let reason: string | null = null
  try {
    let clockMs = settings.timers.now() + CLOCK_MS
    while (reason === null && settings.accepts() && !signal.aborted) {
      const job = jobs.shift()
      if (job !== undefined) reason = await answerJob(machine, session, job)
      else if (lost.is) reason = 'the session of the lock was lost'
      else if (settings.timers.now() >= clockMs) {
        reason = await clockRefusal(machine, session)
        clockMs = settings.timers.now() + CLOCK_MS
      } else {
        await wakeups.wait(LOOK_MS, signal)
        if (jobs.length === 0) reason = await lookRefusal(machine, session)
      }
    }
    return reason
  } finally {
    machine.session = null
    for (const job of jobs.splice(0)) job.refuse(NOT_LEADING)
    settings.onNotice({ is: 'left', reason: reason ?? 'this node takes no drafts now' })
  }
}

const NOT_LEADING = {
  is: 'not-leading',
  reason: 'this node does not lead the log; nothing was published',
} as const
const UNKNOWN = {
  is: 'unknown',
  reason: 'the database did not say whether it has the commit: send the same refs again, to any node',
} as const

/** Asks the leader for a commit. A node that does not lead refuses it immediately. */
export function submitCommit<Value>(machine: Machine, work: () => Value): Promise<CommitAnswer<Value>> {
  if (machine.session === null) return Promise.resolve(NOT_LEADING)
  const { promise, resolve, reject } = Promise.withResolvers<CommitAnswer<Value>>()
  machine.jobs.push({
    build() {
      const value = work()
      return () => resolve({ is: 'committed', value })
    },
    refuse: resolve,
    fail: reject,
  })
  machine.wakeups.wake()
  return promise
}

/** Makes one commit, and answers it even when this node fails meanwhile. */
async function answerJob(machine: Machine, session: LeadSession, job: CommitJob): Promise<string | null> {
  try {
    return await commit(machine, session, job)
  } catch (error) {
    // An answer that was given before stays.
    job.refuse(UNKNOWN)
    throw error
  }
}

/** Makes one commit. Returns the reason why this node no longer leads; null when it does. */
async function commit(machine: Machine, session: LeadSession, job: CommitJob): Promise<string | null> {
  const { book, mayRetry, onBooks, onNotice } = machine.settings
  const undo = (): void => {
    book.rollback()
    onBooks('undone')
  }
  const doubt = (): void => {
    machine.unknownTotal += 1
    job.refuse(UNKNOWN)
    undo()
  }
  const { place } = book.applied()
  let answer: () => void
  let bytes: Uint8Array | null
  try {
    book.begin()
    answer = job.build()
    bytes = book.row()
  } catch (error) {
    job.fail(error)
    undo()
    return null
  }
  if (bytes === null) {
    undo()
    // Nothing fences a commit without a row, such as a refusal, so another node may have led meanwhile.
    const isNewest = (await session.barrier().catch(() => null)) === place
    if (isNewest) answer()
    else job.refuse(NOT_LEADING)
    return isNewest ? null : 'a barrier was not confirmed'
  }
  // A crash before the row is in the table leaves nothing. After it, every node applies the row, including this one.
  switch (await session.append(place + 1, bytes)) {
    case 'appended':
      break
    case 'refused':
      job.refuse(NOT_LEADING)
      undo()
      return 'another node has taken over'
    case 'unknown':
      doubt()
      return 'the outcome of a commit is not known'
  }
  try {
    book.commit(bytes)
  } catch (error) {
    doubt()
    onNotice({ is: 'local-failure', error })
    if (!mayRetry(error)) throw error
    return 'the disk of this node failed'
  }
  onBooks('committed')
  machine.wakeups.advance(place + 1)
  answer()
  return null
}

/** Checks that the table is as this node has left it, which an idle leader would not notice otherwise. */
async function lookRefusal({ settings, watch }: Machine, session: LeadSession): Promise<string | null> {
  const { place } = settings.book.applied()
  const ask = (): Promise<Look | null> => session.look(place + 1, 1, place).catch(() => null)
  const first = await ask()
  // A standby may be slow once. Without a standby, nothing can be acknowledged, and the server may have been replaced.
  const look = first?.isProved === false ? await ask() : first
  if (look === null) return 'the table cannot be read'
  watch.note(look, place)
  if (!look.isProved) return 'no synchronous standby confirms the table'
  return look.last === place ? null : `the table ends at place ${look.last}, and this node at ${place}`
}

const CLOCK_REFUSAL = `the clocks of this machine and of the database differ by ${CLOCK_MS_MAX / 1_000} s or more: set the wrong one`

/** Reason why this node's clock forbids leading; null when it does not. */
async function clockRefusal(machine: Machine, session: LeadSession): Promise<string | null> {
  const measured = await session.clockOffset().catch(() => null)
  if (measured === null) return 'the database does not tell its time'
  const offsetMs = Math.abs(measured.offsetMs)
  const wasReported = Math.abs(machine.offsetMs ?? 0) >= CLOCK_REPORTED_MS
  machine.offsetMs = measured.offsetMs
  if (offsetMs >= CLOCK_REPORTED_MS && !wasReported)
    machine.settings.onNotice({ is: 'clock', offsetMs: measured.offsetMs })
  machine.clock = offsetMs >= CLOCK_MS_MAX ? CLOCK_REFUSAL : null
  return machine.clock
}
