import { assert } from '../../protocol/brand.ts'
import type { Draft } from '../../protocol/draft.ts'
import type { FailedOutcome, Outcome } from '../admission/outcome.ts'
import { type HeldQueue, openHeldChanges, openHeldLists, type Settlement } from '../held/held-queue.ts'
import { type BatchSettings, type BatchWork, openBatchWork } from './batch-work.ts'
import { type CommitFailureSettings, UNAVAILABLE } from './commit-failure.ts'
import type { BookChange, CommitEnd, CommitPath } from './commit-path.ts'
import { openEmbeddedPath } from './embedded-path.ts'
import { publishRequest } from './publish-request.ts'
import { openWaitingRequests, type WaitingRequest } from './waiting-requests.ts'

export type CommitQueue = Readonly<{
  /** Publishes or holds the drafts of one request, all or none. Settles when they are on the disk. */
  submit(drafts: readonly Draft[]): Promise<Outcome>
  held: HeldQueue
  /** Must be called after each change of the books on a path that several nodes share, also by a step of the operator. */
  changed(change: BookChange): void
  /** Goes on with what the node of the newest message was doing. Must be called when this node leads. */
  lead(): void
  /** Ends the queue. Settles after its last commit: the store may be closed then. */
  close(): Promise<void>
}>

type CommitQueueSettings = Omit<BatchSettings, 'hasRoom' | 'reserve'> &
  CommitFailureSettings &
  Readonly<{
    /** The way of the commits; the embedded store if absent. */
    path?: CommitPath
    /** Refusal of all requests for the moment, such as that of a wrong clock; null while they can be committed. */
    refusal(): FailedOutcome | null
  }>

/**
 * Opens the queue of commits. Requests that arrive during a commit share the next one. A request publishes or holds its
 * drafts (`publish-request.ts`), or changes held ones (`held-queue.ts`). At the end of a commit, held drafts that its
 * events let go are published (`release.ts`).
 */
export function openCommitQueue(settings: CommitQueueSettings): CommitQueue {
  const { appender, tables, path = openEmbeddedPath(settings) } = settings
  const work = openBatchWork({ ...settings, hasRoom: path.hasRoom, reserve: path.reserve })
  const { parts } = work
  const changes = openHeldChanges({ ...parts, published: appender.published })
  const commits = openCommits(settings, path, work)
  // The last process may have ended in the middle of a release, and an import changes the books.
  if (settings.path === undefined) commits.lead()

  function decide<Result>(refs: readonly string[], reason: string, run: () => Result) {
    return commits.enqueue({ drafts: refs.length, size: path.sizeOfDecision(refs.length, reason) }, run)
  }
  const lists = openHeldLists(parts.held, tables, () =>
    assert(!path.isOpen(), 'held drafts are read while no commit is open'),
  )
  const sizeOfWords = (words: readonly Settlement[]): number =>
    words.reduce((sum, word) => {
      const named = lists.askedAbout(word.tx).length
      return sum + path.sizeOfWord(named, 'reason' in word ? word.reason : word.place)
    }, 0)

  return {
    submit: (drafts) =>
      commits.enqueue({ drafts: drafts.length, size: path.sizeOf(drafts) }, () =>
        publishRequest(parts, drafts),
      ),
    held: {
      settle: (words, chain) =>
        commits.enqueue({ drafts: words.length, size: sizeOfWords(words) }, () =>
          changes.settle(words, chain),
        ),
      release: (refs) => decide(refs, '', () => changes.release(refs)),
      vouch: (refs, reason) => decide(refs, reason, () => changes.vouch(refs, reason)),
      drop: (refs, reason) => decide(refs, reason, () => changes.drop(refs, reason)),
      quiet: commits.quiet,
      ...lists,
    },
    changed(change) {
      if (change === 'undone') work.undone()
      if (change === 'applied') work.applied()
      commits.look()
    },
    lead: commits.lead,
    close: commits.close,
  }
}

/** Commits one after another, each of the requests that wait when it begins. */
type Commits = Readonly<{
  /** Runs the work in the next commit. Settles when that is on the disk. */
  enqueue<Result>(
    request: Readonly<{ drafts: number; size: number }>,
    run: () => Result,
  ): Promise<Result | FailedOutcome>
  /** Settles when no transaction is open. Rejects when the signal is aborted before. */
  quiet(signal?: AbortSignal): Promise<void>
  /** Wakes those that wait for that. */
  look(): void
}> &
  Pick<CommitQueue, 'lead' | 'close'>

const NOTHING = { drafts: 0, size: 0 }
/** Time until a release goes on whose commit failed. */
const RELEASE_RETRY_MS = 1_000

function openCommits(settings: CommitQueueSettings, path: CommitPath, { parts, workOf }: BatchWork): Commits {
  const { release } = parts
  const waiting = openWaitingRequests(path, settings.monotonicMs)
  const { quiet, look } = openQuiet(path)
  let [busy, isScheduled, broken, closed] = [false, false, false, false]
  const goOnLater = openLater(goOn, RELEASE_RETRY_MS)

  const enqueue: Commits['enqueue'] = (request, work) => {
    const settled = waiting.add(request, work)
    schedule()
    return settled
  }

  /** Defers the next commit, so that requests of the same turn of the event loop share it. */
  function schedule(): void {
    if (isScheduled || busy || waiting.count() === 0) return
    isScheduled = true
    setImmediate(run)
  }

  function run(): void {
    isScheduled = false
    const batch = waiting.take()
    const refusal = broken ? UNAVAILABLE : settings.refusal()
    if (refusal !== null) {
      refuseAll(batch, refusal, goOnLater)
      return schedule()
    }
    busy = true
    path.commit(workOf(batch), (end) => {
      busy = false
      finish(batch, end)
      schedule()
      look()
    })
  }

  function finish(batch: readonly WaitingRequest[], end: CommitEnd<readonly (() => void)[]>): void {
    if (end.is === 'committed') {
      for (const answer of end.built) answer()
      return goOn()
    }
    broken ||= end.outcome === UNAVAILABLE
    refuseAll(batch, end.outcome, goOnLater)
  }

  /** Goes on with the release. Every commit ends with one, so this is a commit without requests. */
  function goOn(): void {
    if (release.isUnfinished() && !closed && !broken) void enqueue(NOTHING, () => undefined)
  }

  return {
    enqueue,
    quiet,
    look,
    lead() {
      release.touchAll()
      goOn()
    },
    async close() {
      closed = true
      if (busy || waiting.count() > 0) await enqueue(NOTHING, () => undefined)
    },
  }
}

/** Ends a commit that failed, or whose outcome is not known. Nobody else may ask for the next one, so it goes on. */
function refuseAll(batch: readonly WaitingRequest[], outcome: FailedOutcome, goOnLater: () => void): void {
  for (const { refuse } of batch) refuse(outcome)
  goOnLater()
}

/**
 * Opens the delay of `run` by `ms` milliseconds. Calls during the delay change nothing: each refused commit asks for another
 * one, which may be refused too.
 */
function openLater(run: () => void, ms: number): () => void {
  let timer: NodeJS.Timeout | null = null
  return () => {
    timer ??= setTimeout(() => {
      timer = null
      run()
    }, ms).unref()
  }
}

/** Opens the wait for the end of an open transaction. */
function openQuiet({ isOpen }: CommitPath): Pick<Commits, 'quiet' | 'look'> {
  const waiting = new Set<() => void>()
  return {
    quiet(signal) {
      if (!isOpen()) return Promise.resolve()
      // A promise around this one would settle later: the next transaction may be open by then.
      return new Promise((resolve, reject) => {
        const stop = (): void => {
          waiting.delete(heard)
          reject(new Error('the wait for the end of a commit was aborted', { cause: signal?.reason }))
        }
        const heard = (): void => {
          signal?.removeEventListener('abort', stop)
          resolve()
        }
        if (signal?.aborted === true) return stop()
        signal?.addEventListener('abort', stop, { once: true })
        waiting.add(heard)
      })
    },
    look() {
      if (isOpen()) return
      const woken = [...waiting]
      waiting.clear()
      for (const heard of woken) heard()
    },
  }
}
