import type { EngineConnection } from '../../engine/log-engine.ts'
import type { AppendState } from './append-states.ts'
import type { BookEnd } from './replica-book.ts'
import type { CommitResult } from './commit-jobs.ts'
import type { GuardReport } from './engine-guard.ts'
import type { HeardMark } from '../marks/other-writers.ts'
import type { Twins } from '../marks/writer-twins.ts'
import type { ReplicaSettings } from './replica-parts.ts'
import { openReplicaParts } from './replica-parts.ts'
import type { StopCause } from './replica-stop.ts'
import { programFault } from './replica-stop.ts'

/** One writer of a log that an engine carries. */
export type Replica = AsyncDisposable &
  Readonly<{
    /**
     * Runs `build` in a transaction on the newest books, and appends what it changed. It may run several times. The
     * result is `committed` only if no message of another writer was missing from the books: the append itself fences
     * a commit, and a read barrier fences one that changes nothing, such as a refusal. Rejects with what `build` throws.
     */
    commit<Value>(build: () => Value): Promise<CommitResult<Value>>
    /** Whether everything up to a barrier that began now is applied. False when no barrier can be had. */
    barrier(): Promise<boolean>
    /** Whether this node does work of its own accord, such as asking the chain. */
    leads(): boolean
    state(): ReplicaState
  }>

/** For `/status`, `/readyz` and metrics. */
export type ReplicaState = Readonly<{
  append: AppendState
  end: BookEnd
  /** The newest place that the engine or a mark of the last ten seconds has named. */
  last: number
  unsettledMs: number | null
  unknownTotal: number
  voidTotal: number
  /** Whether the other writers were heard since the last change. Nothing is appended before. */
  isHeard: boolean
  /** Writers that this node waits for before it appends: not heard yet, or ahead of the engine. */
  waitsFor: readonly string[]
  /** Writers that were waited for in vain. */
  silent: readonly string[]
  marks: readonly HeardMark[]
  /** Running nodes that share what each must have alone. */
  twins: readonly Twins[]
  /** Marks so far that no node of this log has told just now. */
  refusedMarks: number
  stopped: StopCause | null
  /** Whether the disk failed at the last write. */
  isFailing: boolean
  engine: GuardReport
}>

/** Longest wait until the books reach a barrier, in milliseconds. */
const BARRIER_MS_MAX = 5000

export function openReplica(settings: ReplicaSettings): Replica {
  const closing = new AbortController()
  const failed = (error: unknown): void => loop.stopSoon(programFault(follower.end().place, error))
  const connection = safeListeners(settings.connection, failed)
  const parts = openReplicaParts({ ...settings, connection }, closing.signal)
  const { bell, catchUp, follower, guard, hearing, jobs, leading, line, log, loop, marking, writers } = parts
  connection.onChange((what) => {
    if (!closing.signal.aborted) catchUp.changed(what)
  })
  if (settings.stopped !== undefined && settings.stopped !== null) loop.stopSoon(settings.stopped)
  const running = Promise.all([
    loop.run(),
    marking.run(closing.signal).catch(failed),
    guard.run(closing.signal).catch(failed),
  ])

  const waitsFor = (): readonly string[] => [
    ...new Set([
      ...hearing.missing(),
      ...writers.aheadOf(parts.last()),
      ...(catchUp.isEmpty() ? writers.absent() : []),
    ]),
  ]

  return {
    commit: jobs.add,
    async barrier() {
      const { place } = follower.end()
      const last = await log.last().catch(() => null)
      if (last === null || loop.stopped() !== null) return false
      if (last < place) {
        catchUp.changed('the engine has lost its newest messages')
        return false
      }
      bell.ring()
      return await follower.reached(last, BARRIER_MS_MAX)
    },
    leads: () => loop.stopped() === null && leading.claim() !== null,
    state: () => ({
      append: line.state(),
      end: follower.end(),
      last: Math.max(parts.last(), writers.farthest(), follower.end().place),
      unsettledMs: line.unsettledMs(),
      unknownTotal: line.unknownTotal(),
      voidTotal: loop.voidTotal(),
      isHeard: hearing.isHeard(),
      waitsFor: hearing.isHeard() ? [] : waitsFor(),
      silent: hearing.silent(),
      marks: writers.heard(),
      twins: writers.twins(),
      refusedMarks: marking.refusedTotal(),
      stopped: loop.stopped(),
      isFailing: loop.isFailing(),
      engine: guard.report(),
    }),
    async [Symbol.asyncDispose]() {
      closing.abort()
      bell.ring()
      await running
      jobs.refuseAll({ is: 'unavailable', reason: 'this node is closing; nothing was published' })
    },
  }
}

/** The same connection, whose client never sees an error of a listener. */
function safeListeners(connection: EngineConnection, onFailure: (error: unknown) => void): EngineConnection {
  const safely =
    <News>(listener: (news: News) => void) =>
    (news: News): void => {
      try {
        listener(news)
      } catch (error) {
        onFailure(error)
      }
    }
  return {
    ...connection,
    onTold: (listener) => connection.onTold(safely(listener)),
    onChange: (listener) => connection.onChange(safely(listener)),
  }
}
