import type { LogEngine } from '../../engine/log-engine.ts'
import type { AppendLine } from './append-line.ts'
import type { BookFollower } from './book-follower.ts'
import type { EngineGuard } from './engine-guard.ts'
import type { Hearing } from '../marks/hearing.ts'
import type { Leading } from '../marks/leading.ts'
import type { LoopBell, ReplicaClock } from './replica-clock.ts'
import { APPLIED_MESSAGES_MAX } from './replica-book.ts'
import type { ReplicaNotice } from './replica-notice.ts'
import type { TailCheck } from './tail-check.ts'

/** Brings the books of a replica to the end of the log, and notices when the engine is not what it was. */
export type ReplicaCatchUp = Readonly<{
  /** Waits for a ring, or so many milliseconds. */
  rest(ms: number): Promise<void>
  /**
   * Waits for a ring, a hint of the engine, or so many milliseconds. Then advances, unless there is no hint and a commit
   * may be attempted: a read would delay it, and its append shows whether other messages came first.
   */
  follow(ms: number, mayAttempt: () => boolean): Promise<void>
  /** Hears the other writers before the next append, because something has changed. */
  changed(what: string): void
  /** Applies what the engine shows, or settles the unsettled message. Returns whether anything moved. */
  advance(): Promise<boolean>
  /** Advances until the books reach a place, or for `ADVANCE_MS_MAX`: the engine may have lost it in the meantime. */
  advanceTo(place: number): Promise<void>
  /** Compares the newest message with the engine's, and offers what the engine has lost again. */
  align(): Promise<void>
  isAlignDue(): boolean
  /** Whether the engine's stream is empty, and waits for all known writers before it is refilled. */
  isEmpty(): boolean
  /** Makes a comparison due. */
  alignSoon(): void
}>

/** Longest wait without a hint, in milliseconds. */
export const IDLE_MS = 1000
/** Pause after a failure of the engine, and between two attempts at one place; at most, in milliseconds. */
export const RETRY_MS = 400
/** Longest time until a replica shows what a barrier has named, in milliseconds. */
const ADVANCE_MS_MAX = 2000
/** Pause when a replica lags behind a hint. */
const LAG_MS = 20
/** Time between two comparisons of the newest message with the engine's. */
const ALIGN_MS = 10_000

export type CatchUpParts = Readonly<{
  log: LogEngine
  clock: ReplicaClock
  bell: LoopBell
  follower: BookFollower
  line: AppendLine
  tail: TailCheck
  hearing: Hearing
  guard: EngineGuard
  leading: Leading
  random(): number
  isClosed(): boolean
  onNotice(notice: ReplicaNotice): void
}>

export function openReplicaCatchUp(parts: CatchUpParts): ReplicaCatchUp {
  const { log, clock, bell, follower, line } = parts
  let alignDueMs = Number.NEGATIVE_INFINITY
  let isEmpty = false
  let hint: Promise<void> | null = null
  /** The place for which the hint was asked. */
  let hinted = 0

  function changed(what: string): void {
    parts.hearing.begin()
    parts.guard.changed()
    parts.onNotice({ is: 'changed', what })
    bell.ring()
  }

  async function advance(): Promise<boolean> {
    if (line.state() === 'unsettled') return await line.settle(false)
    const messages = await follower.next()
    if (messages.length === 0) return false
    parts.leading.newestIs('others')
    for (let index = 0; index < messages.length && !parts.isClosed(); index += APPLIED_MESSAGES_MAX) {
      // A long page takes seconds: marks, questions and the door of this thread must not wait for it.
      if (index > 0) await clock.pause(0)
      follower.apply(messages.slice(index, index + APPLIED_MESSAGES_MAX))
    }
    return true
  }

  return {
    rest: (ms) => clock.within(ms, bell.rung(), () => undefined),
    async follow(ms, mayAttempt) {
      const next = follower.end().place + 1
      if (hint === null) {
        hinted = next
        hint = log.wait(next, IDLE_MS).then(() => void (hint = null))
      }
      await clock.within(ms, Promise.race([bell.rung(), hint]), () => undefined)
      if (hint !== null && mayAttempt()) return
      // A late hint of a message that this node has appended itself.
      if (hint === null && hinted < next) return
      // A hint can come before the replica that is read has the message.
      if (!(await advance()) && hint === null) await clock.pause(LAG_MS)
    },
    changed,
    advance,
    async advanceTo(place) {
      const until = clock.now() + ADVANCE_MS_MAX
      while (follower.end().place < place && clock.now() < until && !parts.isClosed()) {
        if (!(await advance())) await clock.pause(RETRY_MS * parts.random())
      }
    },
    async align() {
      const messages = await parts.tail.align()
      alignDueMs = clock.now() + ALIGN_MS
      isEmpty = messages === null
      if (messages === null) {
        if (parts.hearing.isHeard()) changed('the stream on the engine is empty')
        return
      }
      if (messages === 0) return
      parts.onNotice({ is: 'offered-again', messages })
      changed('the engine had lost its newest messages')
    },
    isEmpty: () => isEmpty,
    isAlignDue: () => clock.now() >= alignDueMs,
    alignSoon: () => void (alignDueMs = Number.NEGATIVE_INFINITY),
  }
}
