import type { ReplicaCatchUp, CatchUpParts } from './replica-catch-up.ts'
import { RETRY_MS } from './replica-catch-up.ts'
import type { CommitJob, CommitJobs } from './commit-jobs.ts'
import type { OtherWriters } from '../marks/other-writers.ts'
import { ReplicaStopped } from './replica-stop.ts'

export type AppendParts = CatchUpParts &
  Readonly<{
    catchUp: ReplicaCatchUp
    jobs: CommitJobs
    writers: OtherWriters
    /** Whether the log goes on in the next stream, as far as the engine tells. */
    hasNext(): Promise<boolean>
    /** Asks the other writers for their marks. */
    ask(question: string): void
  }>

/** Pause while the other writers are heard, in milliseconds. */
const HEAR_MS = 250

const LOST_TAIL = 'the engine has lost its newest messages'

const TWIN = {
  is: 'unavailable',
  reason: 'another running node has the name or the node key of this one; nothing was published',
} as const

/** Reads to the end, then hears the other writers. Ends when none of them is ahead of the engine. */
export async function hearOthers(parts: AppendParts): Promise<void> {
  const { catchUp, follower, guard, hearing, log, writers } = parts
  const began = hearing.began()
  await catchUp.align()
  while (!parts.isClosed() && (await catchUp.advance()));
  const question = hearing.question()
  if (question !== null) parts.ask(question)
  // Marks are told by the engine's clock: without it none can be heard.
  if (hearing.isQuiet() && guard.report().offset !== null) {
    const farthest = writers.farthest()
    const last = await log.last()
    if (farthest <= last && writers.later().length === 0) {
      await catchUp.advanceTo(last)
      // The engine has less than this node while an empty stream is not refilled.
      const isAtEnd = follower.end().place === last
      if (isAtEnd) await refuseLostSeal(parts, last)
      if (isAtEnd && hearing.end(began)) return parts.onNotice({ is: 'heard', silent: hearing.silent() })
    }
  }
  await catchUp.rest(HEAR_MS)
}

/** Stops this node when the next stream has begun, and the engine has lost the seal of this one after its last place. */
async function refuseLostSeal({ hasNext, log }: AppendParts, last: number): Promise<void> {
  if (last === 0 || !(await hasNext())) return
  // The seal is older than the next stream. So it is here now, or it is lost.
  if ((await log.last()) !== last) return
  const reason = `the next stream has begun, and the engine has lost the seal of this one after place ${last}: restore a backup of a writer that is in the next stream`
  throw new ReplicaStopped({ is: 'lost', place: last + 1, reason })
}

/** Looks for the owner of the unsettled message's place, and offers the message again while there is none. */
export async function settleOffer(parts: AppendParts): Promise<void> {
  const { catchUp, clock, follower, guard, hearing, line, log, writers } = parts
  const refusal = guard.refusal()
  // Nothing is appended to a stream after which another writer has gone on.
  const isLast = writers.later().length === 0
  // A wrong clock does not matter here: the moment of the message is part of its bytes.
  const mayOffer = hearing.isHeard() && isLast && (refusal === null || refusal.is === 'clock')
  if (await line.settle(mayOffer)) return
  if (!hearing.isHeard()) return await hearOthers(parts)
  const { place } = follower.end()
  if ((await log.last()) < place) catchUp.changed(LOST_TAIL)
  else await clock.pause(RETRY_MS * parts.random())
}

/** Builds the first commit that waits, and offers it. */
export async function attemptCommit(parts: AppendParts, job: CommitJob): Promise<void> {
  const { catchUp, follower, guard, jobs, line, log, writers } = parts
  const refusal = guard.refusal()
  if (refusal?.is === 'unasked') return await catchUp.follow(RETRY_MS, () => false)
  if (refusal !== null) return jobs.refuseAll({ is: refusal.is, reason: refusal.reason })
  if (writers.twins().some(({ isOurs }) => isOurs)) return jobs.refuseAll(TWIN)
  if (writers.later().length > 0) return await leaveStream(parts)
  const farthest = writers.farthest()
  if (farthest > follower.end().place) {
    if ((await log.last()) < farthest)
      return catchUp.changed('another writer has messages that the engine lacks')
    return await catchUp.advanceTo(farthest)
  }
  const answer = await line.attempt(job)
  if (answer !== null) await confirm(parts, job, answer)
}

/** Reads the seal of a stream after which another writer has gone on. Nothing is appended while the engine lacks it. */
async function leaveStream({ catchUp }: AppendParts): Promise<void> {
  if (!(await catchUp.advance())) catchUp.changed('another writer is in a later stream')
}

/** Answers a commit that changes nothing, if the books had everything up to a barrier that began after its arrival. */
async function confirm(parts: AppendParts, job: CommitJob, answer: () => void): Promise<void> {
  const { catchUp, follower, log } = parts
  const { place } = follower.end()
  if (job.barrier() === null) {
    const last = await log.last()
    if (last < place) return catchUp.changed(LOST_TAIL)
    job.setBarrier(last)
  }
  const barrier = job.barrier() ?? place
  if (barrier <= place) answer()
  else await catchUp.advanceTo(barrier)
}
