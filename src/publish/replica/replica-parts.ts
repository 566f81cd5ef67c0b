import type { EngineConnection, LogEngine } from '../../engine/log-engine.ts'
import type { AppendLine } from './append-line.ts'
import { openAppendLine, UNSETTLED_MS_MAX } from './append-line.ts'
import { openAppendPace } from './append-pace.ts'
import type { Book } from './replica-book.ts'
import type { BookChange, BookFollower } from './book-follower.ts'
import { openBookFollower } from './book-follower.ts'
import { boundedLog } from './bounded-log.ts'
import type { ReplicaCatchUp } from './replica-catch-up.ts'
import { openReplicaCatchUp } from './replica-catch-up.ts'
import type { CommitJobs } from './commit-jobs.ts'
import { openCommitJobs } from './commit-jobs.ts'
import type { EngineGuard } from './engine-guard.ts'
import { openEngineGuard } from './engine-guard.ts'
import type { Hearing } from '../marks/hearing.ts'
import { openHearing } from '../marks/hearing.ts'
import type { Leading } from '../marks/leading.ts'
import { openLeading } from '../marks/leading.ts'
import type { Marking, OwnMark } from './marking.ts'
import type { MarkKeys } from '../marks/sealed-mark.ts'
import { beginningOf, openMarking } from './marking.ts'
import type { KnownWriters, OtherWriters } from '../marks/other-writers.ts'
import { openOtherWriters } from '../marks/other-writers.ts'
import type { LoopBell, ReplicaClock, Timers } from './replica-clock.ts'
import { openLoopBell, openReplicaClock } from './replica-clock.ts'
import type { ReplicaLoop } from './replica-loop.ts'
import { openReplicaLoop } from './replica-loop.ts'
import type { ReplicaNotice } from './replica-notice.ts'
import type { StopCause } from './replica-stop.ts'
import type { RunClock } from './run-clock.ts'
import { openRunClock } from './run-clock.ts'
import type { ForkEvidence } from './tail-check.ts'
import { openTailCheck } from './tail-check.ts'

export type ReplicaSettings = Readonly<{
  book: Book
  connection: EngineConnection
  timers: Timers
  /** Milliseconds since 1970, by the clock of this machine. */
  nowMs(): number
  /** Numbers from 0 to 1, without 1. */
  random(): number
  /** Facts that this node tells the others about itself, apart from its place. */
  own(): OwnMark
  /** Keys with which marks are signed and verified now. */
  keys(): MarkKeys
  known: KnownWriters
  evidence: ForkEvidence
  /** Reason why the replica stops at once; absent or null when it runs. */
  stopped?: StopCause | null
  /** Whether the log goes on in the next stream, as far as the engine tells; never if absent. Asked once. */
  hasNextStream?(): Promise<boolean>
  /** Whether the books can be used after this failure of the disk. */
  mayRetry(error: unknown): boolean
  /** Whether this node takes drafts, apart from what the replica knows. One that does not leaves the lead to others. */
  accepts(): boolean
  /** Called after each change of the books, before anything else uses them. */
  onBooks(change: BookChange): void
  onNotice(notice: ReplicaNotice): void
}>

/** The parts of a replica that others look at. */
type ReplicaParts = Readonly<{
  log: LogEngine
  bell: LoopBell
  follower: BookFollower
  line: AppendLine
  jobs: CommitJobs
  hearing: Hearing
  writers: OtherWriters
  guard: EngineGuard
  leading: Leading
  marking: Marking
  catchUp: ReplicaCatchUp
  loop: ReplicaLoop
  /** The newest place that the engine has named. */
  last(): number
}>

/** Opens the parts of a replica and connects them. Nothing runs yet. */
export function openReplicaParts(settings: ReplicaSettings, closing: AbortSignal): ReplicaParts {
  const { book, connection, random, own, mayRetry } = settings
  const clock = openReplicaClock(settings.timers, closing)
  const isClosed = (): boolean => closing.aborted
  const guard = openEngineGuard({ connection, clock })
  const time = openRunClock(settings.nowMs, clock, guard)
  const writers = openWriters(settings, time, clock)
  let last = book.applied().place
  const log = boundedLog(connection.log, clock, (place) => void (last = Math.max(last, place)))
  const bell = openLoopBell()
  const canPublish = (): boolean => settings.accepts() && hasNoFault({ line, loop, guard, writers })
  const leading = openLeading(own().node, writers, clock, canPublish)
  const pace = openAppendPace(writers, random, clock)
  const hearing = openHearing(own().run, writers, clock)
  const jobs = openCommitJobs(clock, bell.ring)
  const mayRefill = (): boolean => writers.absent().length === 0
  const tail = openTailCheck({ book, log, evidence: settings.evidence, mayRefill })
  const follower = openBookFollower({
    book,
    log,
    clock,
    onBooks(change) {
      if (change !== 'undone') loop.recovered()
      settings.onBooks(change)
    },
  })
  const line = openAppendLine({
    book,
    log,
    follower,
    pace,
    clock,
    onOwner(owner) {
      leading.newestIs(owner)
      if (owner === 'others') marking.tell({ contends: true })
      // The engine may lose the message in silence: whoever has heard of it does not append in its place.
      else marking.tellSoon()
    },
    onCommitFailure: (error) => loop.failed(error),
  })
  const marking = openMarking({
    connection,
    clock,
    follower,
    writers,
    stream: own().stream,
    own,
    keys: settings.keys,
    time,
    leads: leading.claim,
    onHeard: bell.ring,
    onAsked: () => catchUp.alignSoon(),
    stopped: () => loop.stopped()?.is ?? null,
    isClosed,
    onFork: (cause) => loop.stopSoon(cause),
  })
  const onNotice = (notice: ReplicaNotice): void => {
    // The others must not wait for the next mark to hear of a fork.
    if (notice.is === 'stopped') marking.tell()
    settings.onNotice(notice)
  }
  const shared = { log, clock, bell, follower, line, tail }
  const followed = { ...shared, hearing, guard, leading, random, isClosed, onNotice }
  const catchUp = openReplicaCatchUp(followed)
  const ask = (question: string): void => marking.tell({ asks: question })
  const hasNext = onceWithin(clock, settings.hasNextStream)
  const appending = { ...followed, catchUp, jobs, writers, hasNext, ask }
  const loop = openReplicaLoop({ ...appending, pace, mayRetry })
  return { ...followed, jobs, writers, marking, catchUp, loop, last: () => last }
}

/** Longest wait for what the engine tells about the next stream, in milliseconds. */
const NEXT_MS_MAX = 3000

/** A question that is asked once: a connection costs too much to ask it after each change. Without an answer in time, no. */
function onceWithin(clock: ReplicaClock, ask: ReplicaSettings['hasNextStream']): () => Promise<boolean> {
  let isDue = ask !== undefined
  return async () => {
    if (!isDue || ask === undefined) return false
    isDue = false
    return await clock.within(NEXT_MS_MAX, ask(), () => false)
  }
}

/** Whether a replica may append, as far as its own state and the engine's are concerned. */
function hasNoFault({
  line,
  loop,
  guard,
  writers,
}: Pick<ReplicaParts, 'line' | 'loop' | 'guard' | 'writers'>): boolean {
  if ((line.unsettledMs() ?? 0) > UNSETTLED_MS_MAX) return false
  if (loop.stopped() !== null || loop.isFailing() || guard.refusal() !== null) return false
  if (writers.later().length > 0) return false
  return !writers.twins().some(({ isOurs }) => isOurs)
}

function openWriters(settings: ReplicaSettings, time: RunClock, clock: ReplicaClock): OtherWriters {
  const { key } = settings.keys().node
  const own = {
    ...settings.own(),
    begin: () => beginningOf(settings.book),
    key: Buffer.from(key.publicKey).toString('base64url'),
    sinceMs: () => (time.isKnown() ? time.sinceMs() : null),
  }
  return openOtherWriters(own, withoutFailure(settings), clock)
}

/** The known writers. A failure to write a name, or to read the names again, is only reported. */
function withoutFailure({ known, onNotice }: ReplicaSettings): KnownWriters {
  let names = known.names()
  return {
    names() {
      try {
        names = known.names()
      } catch (error) {
        onNotice({ is: 'local-failure', error })
      }
      return names
    },
    add(name) {
      try {
        known.add(name)
      } catch (error) {
        onNotice({ is: 'local-failure', error })
      }
    },
  }
}
