import type { EngineConnection, LogEngine } from '../../engine/log-engine.ts'
import type { AppendLine } from './append-line.ts'
import { openAppendLine } from './append-line.ts'
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
import type { Hearing } from './hearing.ts'
import { openHearing } from './hearing.ts'
import type { Leading } from './leading.ts'
import { openLeading } from './leading.ts'
import type { Marking, OwnMark } from './marking.ts'
import { openMarking } from './marking.ts'
import type { KnownWriters, OtherWriters } from './other-writers.ts'
import { openOtherWriters } from './other-writers.ts'
import type { LoopBell, Timers } from './replica-clock.ts'
import { openLoopBell, openReplicaClock } from './replica-clock.ts'
import type { ReplicaLoop } from './replica-loop.ts'
import { openReplicaLoop } from './replica-loop.ts'
import type { ReplicaNotice } from './replica-notice.ts'
import type { StopCause } from './replica-stop.ts'
import type { ForkEvidence } from './tail-check.ts'
import { openTailCheck } from './tail-check.ts'

export type ReplicaSettings = Readonly<{
  book: Book
  connection: EngineConnection
  timers: Timers
  /** Numbers from 0 to 1, without 1. */
  random(): number
  /** Facts that this node tells the others about itself, apart from its place. */
  own(): OwnMark
  known: KnownWriters
  evidence: ForkEvidence
  /** Why the replica stops at once; absent or null when it runs. */
  stopped?: StopCause | null
  /** Whether the books can be used after this failure of the disk. */
  mayRetry(error: unknown): boolean
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
  const { book, connection, random, own } = settings
  const clock = openReplicaClock(settings.timers, closing)
  const isClosed = (): boolean => closing.aborted
  let last = book.applied().place
  const log = boundedLog(connection.log, clock, (place) => void (last = Math.max(last, place)))
  const bell = openLoopBell()
  const writers = openOtherWriters(own(), withoutFailure(settings), clock)
  const leading = openLeading(own().node, writers, clock)
  const pace = openAppendPace(writers, random, clock)
  const hearing = openHearing(writers, clock)
  const guard = openEngineGuard({ connection, clock })
  const jobs = openCommitJobs(clock, bell.ring)
  const tail = openTailCheck({ book, log, evidence: settings.evidence })
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
    leads: leading.claim,
    onHeard: bell.ring,
    stopped: () => loop.stopped()?.is ?? null,
    isClosed,
    onFork: (cause) => loop.stopSoon(cause),
  })
  const { onNotice, mayRetry } = settings
  const followed = {
    log,
    clock,
    bell,
    follower,
    line,
    tail,
    hearing,
    guard,
    leading,
    random,
    isClosed,
    onNotice,
  }
  const catchUp = openReplicaCatchUp(followed)
  const ask = (): void => marking.tell({ asks: true })
  const appending = { ...followed, catchUp, jobs, writers, ask }
  const loop = openReplicaLoop({ ...appending, pace, mayRetry })
  return { ...followed, jobs, writers, marking, catchUp, loop, last: () => last }
}

/** The known writers, of which a name that cannot be written is only reported. */
function withoutFailure({ known, onNotice }: ReplicaSettings): KnownWriters {
  return {
    names: known.names,
    add(name) {
      try {
        known.add(name)
      } catch (error) {
        onNotice({ is: 'local-failure', error })
      }
    },
  }
}
