import { EngineError } from '../../engine/log-engine.ts'
import { isOfMachine } from '../../log/store/sqlite-error.ts'
import type { AppendParts } from './append-steps.ts'
import { attemptCommit, hearOthers, settleOffer } from './append-steps.ts'
import type { AppendPace } from './append-pace.ts'
import { MessageFault } from './replica-book.ts'
import { IDLE_MS, RETRY_MS } from './replica-catch-up.ts'
import type { StopCause } from './replica-stop.ts'
import { programFault, ReplicaStopped } from './replica-stop.ts'

type LoopParts = AppendParts &
  Readonly<{
    pace: AppendPace
    /** Whether the books can be used after this failure of the disk. */
    mayRetry(error: unknown): boolean
  }>

/** The one loop that uses the books. Its steps never overlap. */
export type ReplicaLoop = Readonly<{
  /** Runs until the replica is closed. Never throws. */
  run(): Promise<void>
  /** Stops at the end of the present step. */
  stopSoon(cause: StopCause): void
  stopped(): StopCause | null
  /** Notes a failure of the disk: nothing is built until a write succeeds. */
  failed(error: unknown): void
  /** Notes that the books were written. */
  recovered(): void
  isFailing(): boolean
  /** Messages so far that did not continue the books. */
  voidTotal(): number
}>

/** Pause after a failure of the disk, in milliseconds. */
const DISK_MS = 1000

const FAILING = {
  is: 'unavailable',
  reason: 'the disk of this node failed or is full; nothing was published',
} as const
const STOPPED = { is: 'stopped', reason: 'publishing has stopped until the operator acts' } as const
const BROKEN = 'the disk of this node failed; repair it, and start the node again'

/** State of the loop. */
type LoopState = {
  cause: StopCause | null
  /** Cause for which the loop stops before its next step. */
  due: StopCause | null
  isEvidenceDue: boolean
  isFailing: boolean
  voidTotal: number
}

export function openReplicaLoop(parts: LoopParts): ReplicaLoop {
  const loop: LoopState = { cause: null, due: null, isEvidenceDue: false, isFailing: false, voidTotal: 0 }
  return {
    async run() {
      while (!parts.isClosed()) {
        await step(parts, loop)
          .catch((error: unknown) => recover(parts, loop, error))
          .catch((error: unknown) => breakDown(parts, loop, error))
      }
    },
    stopSoon(cause) {
      loop.due ??= cause
      parts.bell.ring()
    },
    stopped: () => loop.cause,
    failed: (error) => fail(parts, loop, error),
    recovered: () => void (loop.isFailing = false),
    isFailing: () => loop.isFailing,
    voidTotal: () => loop.voidTotal,
  }
}

async function step(parts: LoopParts, loop: LoopState): Promise<void> {
  const { bell, catchUp, clock, hearing, jobs, line, pace } = parts
  bell.quiet()
  if (loop.cause !== null) return await stay(parts, loop)
  if (loop.due !== null) return halt(parts, loop, loop.due)
  if (loop.isFailing) {
    jobs.refuseWaiting(FAILING)
    await clock.pause(DISK_MS)
  }
  if (line.state() === 'unsettled') return await settleOffer(parts)
  if (!hearing.isHeard()) return await hearOthers(parts)
  if (catchUp.isAlignDue()) return await catchUp.align()
  const job = loop.isFailing ? undefined : jobs.first()
  const waitMs = pace.waitMs()
  if (job !== undefined && waitMs === 0) return await attemptCommit(parts, job)
  const mayAttempt = (): boolean => !loop.isFailing && jobs.first() !== undefined && pace.waitMs() === 0
  await catchUp.follow(job === undefined ? IDLE_MS : waitMs, mayAttempt)
}

/** Serves the old head. */
async function stay({ catchUp, jobs, onNotice, tail }: LoopParts, loop: LoopState): Promise<void> {
  jobs.refuseAll(STOPPED)
  if (loop.isEvidenceDue) {
    const messages = await tail.keepBranches()
    loop.isEvidenceDue = false
    onNotice({ is: 'evidence', messages })
  }
  await catchUp.rest(IDLE_MS)
}

function halt({ line, onNotice }: LoopParts, loop: LoopState, cause: StopCause): void {
  loop.cause = cause
  loop.isEvidenceDue = cause.is === 'fork'
  line.stop()
  onNotice({ is: 'stopped', cause })
}

function fail({ follower, mayRetry, onNotice }: LoopParts, loop: LoopState, error: unknown): void {
  const { place } = follower.end()
  const passes = mayRetry(error)
  if (!passes && !isOfMachine(error)) return void (loop.due ??= programFault(place, error))
  loop.isFailing = true
  onNotice({ is: 'local-failure', error })
  if (!passes) loop.due ??= { is: 'local', place, reason: BROKEN }
}

/** Stops at an error of what should recover from errors. */
async function breakDown({ clock, follower }: LoopParts, loop: LoopState, error: unknown): Promise<void> {
  loop.due ??= programFault(follower.end().place, error)
  await clock.pause(DISK_MS)
}

async function recover(parts: LoopParts, loop: LoopState, error: unknown): Promise<void> {
  if (error instanceof ReplicaStopped) return halt(parts, loop, error.stop)
  if (error instanceof MessageFault) {
    const cause = await judge(parts, error)
    if (cause !== null) {
      loop.voidTotal += 1
      return halt(parts, loop, cause)
    }
  } else if (!(error instanceof EngineError)) fail(parts, loop, error)
  await parts.clock.pause(loop.cause === null ? RETRY_MS * parts.random() : DISK_MS)
}

/**
 * Reason why a message does not continue the books. It is a fork if the engine has another message at their place, or if
 * a writer of this log has continued another one. Null while the engine does not show its message at the place of the
 * books: nothing is appended before it does.
 */
async function judge(
  { catchUp, hearing, tail }: LoopParts,
  { place, message, isOfOtherBranch }: MessageFault,
): Promise<StopCause | null> {
  try {
    await tail.align()
  } catch (error) {
    if (error instanceof ReplicaStopped) return error.stop
    if (error instanceof EngineError) {
      if (hearing.isHeard()) catchUp.changed('a message does not continue the log')
      return null
    }
  }
  return { is: isOfOtherBranch ? 'fork' : 'fault', place, reason: message }
}
