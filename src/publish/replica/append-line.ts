import type { Appended, LogEngine } from '../../engine/log-engine.ts'
import type { AppendPace } from './append-pace.ts'
import type { AppendState } from './append-states.ts'
import { nextAppendState } from './append-states.ts'
import type { Book } from './replica-book.ts'
import type { BookFollower } from './book-follower.ts'
import type { CommitJob } from './commit-jobs.ts'
import type { ReplicaClock } from './replica-clock.ts'

/** Time after which a message whose outcome is unknown makes publishing impossible. An attempt takes a second. */
export const UNSETTLED_MS_MAX = 2_000

/** A message whose place has no known owner yet, and what answers its publishers if it is the owner. */
type Offer = Readonly<{
  place: number
  bytes: Uint8Array
  job: CommitJob
  answer: () => void
  sinceMs: number
}>

/** The one message that this node appends at a time. */
export type AppendLine = Readonly<{
  state(): AppendState
  /** Age of the unsettled message in milliseconds; null when there is none. */
  unsettledMs(): number | null
  /** Attempts so far whose result was unknown. */
  unknownTotal(): number
  /** Builds a commit, and offers it. Returns whether it must be confirmed: it changes nothing, so no append fences it. */
  attempt(job: CommitJob): Promise<(() => void) | null>
  /**
   * Reads the owner of the unsettled message's place. While there is none, offers the same bytes at the same place
   * again, if `mayOffer`. Returns whether the owner is known now.
   */
  settle(mayOffer: boolean): Promise<boolean>
  stop(): void
}>

type LineParts = Readonly<{
  book: Book
  log: LogEngine
  follower: BookFollower
  pace: AppendPace
  clock: ReplicaClock
  /** Called when the owner of a place is known. */
  onOwner(owner: 'ours' | 'others'): void
  /** Called when a local commit failed after the engine accepted the message. */
  onCommitFailure(error: unknown): void
}>

/** State of the line. */
type LineState = { state: AppendState; offer: Offer | null; unknownTotal: number }

export function openAppendLine(parts: LineParts): AppendLine {
  const line: LineState = { state: 'idle', offer: null, unknownTotal: 0 }
  return {
    state: () => line.state,
    unsettledMs: () => (line.offer === null ? null : parts.clock.now() - line.offer.sinceMs),
    unknownTotal: () => line.unknownTotal,
    attempt: (job) => buildAndOffer(parts, line, job),
    settle: (mayOffer) => settle(parts, line, mayOffer),
    stop: () => move(line, 'stop'),
  }
}

function move(line: LineState, event: Parameters<typeof nextAppendState>[1]): void {
  line.state = nextAppendState(line.state, event)
}

async function buildAndOffer(
  parts: LineParts,
  line: LineState,
  job: CommitJob,
): Promise<(() => void) | null> {
  const { book, clock, follower } = parts
  const sinceMs = clock.now()
  move(line, 'build')
  const built = buildOpen(book, job)
  if (built.bytes !== null) {
    const { bytes, answer } = built
    await offerOpen(parts, line, { place: follower.end().place + 1, bytes, job, answer, sinceMs })
    return null
  }
  follower.rollback()
  move(line, 'nothing')
  if ('error' in built) job.fail(built.error)
  return built.answer
}

type Built = Readonly<
  | { bytes: Uint8Array; answer: () => void }
  | { bytes: null; answer: () => void }
  | { bytes: null; answer: null; error: unknown }
>

/** Opens the transaction, and builds in it. */
function buildOpen(book: Book, job: CommitJob): Built {
  try {
    book.begin()
    const answer = job.build()
    return { bytes: book.message(), answer }
  } catch (error) {
    return { bytes: null, answer: null, error }
  }
}

/** One attempt with the transaction open. Everything but an accepted and committed message leaves it unsettled. */
async function offerOpen(parts: LineParts, line: LineState, offer: Offer): Promise<void> {
  offer.job.setOffered(true)
  move(line, 'offer')
  const answer = await append(parts, line, offer)
  if (answer === 'appended' && isKept(parts, offer)) {
    move(line, 'kept')
    parts.follower.committed()
    return accept(parts, line, offer)
  }
  line.offer = offer
  move(line, 'doubt')
  parts.follower.rollback()
}

async function append({ log }: LineParts, line: LineState, { place, bytes }: Offer): Promise<Appended> {
  const answer = await log.append(place, bytes)
  if (answer === 'unknown') line.unknownTotal += 1
  return answer
}

/** Commits the open transaction. A failure of the disk leaves a message that is in the log, and not in the books. */
function isKept({ follower, onCommitFailure }: LineParts, { bytes }: Offer): boolean {
  try {
    follower.commit(bytes)
    return true
  } catch (error) {
    onCommitFailure(error)
    return false
  }
}

async function settle(parts: LineParts, line: LineState, mayOffer: boolean): Promise<boolean> {
  const { offer } = line
  if (offer === null) return true
  const [read] = await parts.follower.next()
  const isRead = read !== undefined
  const isAppended = !isRead && mayOffer && (await append(parts, line, offer)) === 'appended'
  if (!isRead && !isAppended) return false
  const owner = read ?? offer
  parts.follower.apply([owner])
  if (Buffer.compare(owner.bytes, offer.bytes) === 0) {
    move(line, 'ours')
    accept(parts, line, offer)
  } else {
    move(line, 'others')
    lose(parts, line, offer)
  }
  return true
}

function accept({ clock, pace, onOwner }: LineParts, line: LineState, { answer, sinceMs }: Offer): void {
  line.offer = null
  pace.won(clock.now() - sinceMs)
  onOwner('ours')
  answer()
  move(line, 'answer')
}

/** The place has another owner, so this message is nowhere, and never will be. */
function lose({ clock, pace, onOwner }: LineParts, line: LineState, { job, sinceMs }: Offer): void {
  line.offer = null
  job.setOffered(false)
  pace.lost(clock.now() - sinceMs)
  onOwner('others')
}
