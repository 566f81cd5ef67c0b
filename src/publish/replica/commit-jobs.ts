import type { ReplicaClock } from './replica-clock.ts'

/**
 * Reason why a commit has no result.
 *
 * - `unknown`: it may be published, or may be published later. The same refs can be sent again, to any node.
 * - `unavailable`, `clock`, `stopped`: nothing of it is published, and never will be.
 */
type CommitRefusal = Readonly<{ is: 'unknown' | 'unavailable' | 'clock' | 'stopped'; reason: string }>

/** A commit that waits for its result. It may be built several times. */
export type CommitJob = Readonly<{
  /** Builds in the open transaction. Returns what answers it. */
  build(): () => void
  refuse(refusal: CommitRefusal): void
  /** Fails the commit: `build` threw. */
  fail(error: unknown): void
  /** Place of a read barrier that began after the commit arrived; null before there is one. */
  barrier(): number | null
  setBarrier(place: number): void
  isOffered(): boolean
  /** Notes whether its message is offered, or may be in the log. Then only `unknown` can refuse it. */
  setOffered(offered: boolean): void
}>

/** Commits in order of arrival. */
export type CommitJobs = Readonly<{
  add<Value>(build: () => Value): Promise<CommitResult<Value>>
  /** The first one that waits. */
  first(): CommitJob | undefined
  /** Refuses all of them. One that is offered gets `unknown`. */
  refuseAll(refusal: CommitRefusal): void
  /** Refuses those that are not offered. */
  refuseWaiting(refusal: CommitRefusal): void
}>

export type CommitResult<Value> = Readonly<{ is: 'committed'; value: Value }> | CommitRefusal

/** Longest wait for the result of a commit, in milliseconds. A broken leader of an engine is replaced in 4 to 11 s. */
const ANSWER_MS_MAX = 12_000

const UNKNOWN: CommitRefusal = {
  is: 'unknown',
  reason:
    'the engine of the log did not say whether it has the commit; send the same refs again, to any node',
}
const UNAVAILABLE: CommitRefusal = {
  is: 'unavailable',
  reason: 'the engine of the log cannot be written to now; nothing was published',
}

export function openCommitJobs(clock: ReplicaClock, onArrival: () => void): CommitJobs {
  /** Those that are not answered. */
  const jobs = new Set<CommitJob>()

  function add<Value>(build: () => Value): Promise<CommitResult<Value>> {
    const { promise, resolve, reject } = Promise.withResolvers<CommitResult<Value>>()
    let isDone = false
    let isOffered = false
    let barrier: number | null = null
    const end = (answer: () => void): void => {
      if (!isDone) answer()
      isDone = true
      jobs.delete(job)
    }
    const job: CommitJob = {
      build() {
        const value = build()
        return () => end(() => resolve({ is: 'committed', value }))
      },
      refuse: (refusal) => end(() => resolve(isOffered ? UNKNOWN : refusal)),
      fail: (error) => end(() => reject(error)),
      barrier: () => barrier,
      setBarrier: (place) => void (barrier = place),
      isOffered: () => isOffered,
      setOffered: (offered) => void (isOffered = offered),
    }
    jobs.add(job)
    onArrival()
    return clock.within(ANSWER_MS_MAX, promise, () => {
      job.refuse(UNAVAILABLE)
      return promise
    })
  }

  return {
    add,
    first: () => jobs.values().next().value,
    refuseAll(refusal) {
      for (const job of jobs) job.refuse(refusal)
    },
    refuseWaiting(refusal) {
      for (const job of jobs) if (!job.isOffered()) job.refuse(refusal)
    },
  }
}
