import { assert } from '../../protocol/brand.ts'
import type { Draft } from '../../protocol/draft.ts'
import type { FailedOutcome, Outcome } from '../admission/outcome.ts'
import type { HeldQueue } from '../held/held-queue.ts'
import { openHeldChanges, openHeldLists } from '../held/held-queue.ts'
import type { BatchSettings, BatchWork } from './batch-work.ts'
import { openBatchWork } from './batch-work.ts'
import type { CommitFailureSettings } from './commit-failure.ts'
import { UNAVAILABLE, WRONG_CLOCK } from './commit-failure.ts'
import type { CommitPath, CommitResult } from './commit-path.ts'
import { openEmbeddedPath } from './embedded-path.ts'
import { publishRequest } from './publish-request.ts'
import type { Fence, RequestAnswer, WaitingRequest } from './waiting-requests.ts'
import { openWaitingRequests } from './waiting-requests.ts'

export type CommitQueue = Readonly<{
  /** Publishes or holds the drafts of one request, all or none. Settles when they are on the disk. */
  submit(drafts: readonly Draft[]): Promise<Outcome>
  held: HeldQueue
  /** Must be called when events of another node were applied: the held drafts in memory are read again when needed. */
  applied(): void
  /** Goes on with what the node of the newest message was doing. Must be called when this node leads. */
  lead(): void
  /** Ends the queue. Settles after its last commit: the store may be closed then. */
  close(): Promise<void>
}>

type CommitQueueSettings = BatchSettings &
  CommitFailureSettings &
  Readonly<{
    /** The way of the commits; the embedded store if absent. */
    path?: CommitPath
    /** Whether `now` can be believed. Nothing is published while it cannot. */
    clockAgrees(): boolean
  }>

/**
 * Opens the queue of commits. Requests that arrive during a commit share the next one. A request publishes or holds its
 * drafts (`publish-request.ts`), or changes held ones (`held-queue.ts`). At the end of a commit, held drafts that its
 * events let go are published (`release.ts`).
 */
export function openCommitQueue(settings: CommitQueueSettings): CommitQueue {
  const { appender, tables, path = openEmbeddedPath(settings) } = settings
  const work = openBatchWork(settings)
  const { parts, refresh } = work
  const changes = openHeldChanges({ ...parts, published: appender.published })
  const { enqueue, lead, quiet, isBroken, close } = openCommits(settings, path, work)
  // The last process may have ended in the middle of a release, and an import changes the books.
  if (settings.path === undefined) lead()
  const change = <Result>(drafts: number, run: () => Result): Promise<Result | FailedOutcome> =>
    enqueue(drafts, run, ALWAYS)

  return {
    submit: (drafts) => enqueue(drafts.length, () => publishRequest(parts, drafts), fenceOfPublish),
    held: {
      settle: (settlements) => change(settlements.length, () => changes.settle(settlements)),
      release: (refs) => change(refs.length, () => changes.release(refs)),
      vouch: (refs, reason) => change(refs.length, () => changes.vouch(refs, reason)),
      drop: (refs, reason) => change(refs.length, () => changes.drop(refs, reason)),
      quiet,
      ...openHeldLists(parts.held, tables, () => {
        assert(!path.isOpen(), 'held drafts are read while no message is offered')
        if (!isBroken()) refresh()
      }),
    },
    applied: work.applied,
    lead,
    close,
  }
}

/** Commits one after another, each of the requests that wait when it begins. */
type Commits = Readonly<{
  /** Runs the work in the next commit. Settles when that is on the disk. */
  enqueue<Result>(drafts: number, run: () => Result, fence: Fence<Result>): Promise<Result | FailedOutcome>
  /** Settles when no transaction is open. */
  quiet(): Promise<void>
  /** Whether a failure has made the store unusable for this process. */
  isBroken(): boolean
}> &
  Pick<CommitQueue, 'lead' | 'close'>

function openCommits(
  { clockAgrees, monotonicMs }: CommitQueueSettings,
  path: CommitPath,
  { parts: { release }, workOf }: BatchWork,
): Commits {
  const waiting = openWaitingRequests(path, monotonicMs, schedule)
  let [busy, isScheduled, broken, closed] = [false, false, false, false]
  const listeners: (() => void)[] = []

  /** Defers the next commit, so that requests of the same turn of the event loop share it. */
  function schedule(): void {
    if (isScheduled || busy || waiting.size() === 0) return
    isScheduled = true
    setImmediate(run)
  }

  function run(): void {
    isScheduled = false
    const batch = waiting.take()
    const refusal = broken ? UNAVAILABLE : clockAgrees() ? null : WRONG_CLOCK
    if (refusal !== null) {
      refuse(batch, refusal)
      return schedule()
    }
    busy = true
    path.commit(workOf(batch, waiting.releaseMax()), (result) => {
      busy = false
      finish(batch, result)
      schedule()
      for (const heard of listeners.splice(0)) heard()
    })
  }

  function finish(batch: readonly WaitingRequest[], result: CommitResult<readonly RequestAnswer[]>): void {
    switch (result.is) {
      case 'too-large':
        return waiting.divide(batch) ? undefined : refuse(batch, TOO_LARGE)
      case 'failed':
        broken ||= result.outcome === UNAVAILABLE
        return refuse(batch, result.outcome)
      case 'committed':
        waiting.answer(batch, result)
        return goOn()
    }
  }

  /** Goes on with the release. Every commit ends with one, so this is a commit without requests. */
  function goOn(): void {
    if (release.isUnfinished() && !closed) void waiting.add(0, () => undefined, NEVER)
  }

  return {
    enqueue: waiting.add,
    quiet: () => (path.isOpen() ? new Promise((heard) => listeners.push(heard)) : Promise.resolve()),
    isBroken: () => broken,
    lead() {
      release.touchAll()
      goOn()
    },
    async close() {
      closed = true
      await waiting.settled()
      if (busy || waiting.size() > 0) await waiting.add(0, () => undefined, NEVER)
    },
  }
}

/** A result that changes nothing is checked, except that all drafts were published before. */
const fenceOfPublish: Fence<Outcome> = (outcome) =>
  !outcome.ok || outcome.receipts.some(({ status }) => status !== 'duplicate')
const ALWAYS: Fence<unknown> = () => true
const NEVER: Fence<unknown> = () => false

const TOO_LARGE: FailedOutcome = {
  ok: false,
  code: 'too-large',
  index: null,
  field: null,
  reason: 'the request is larger than a commit may be: divide it',
}

function refuse(batch: readonly WaitingRequest[], outcome: FailedOutcome): void {
  for (const request of batch) request.refuse(outcome)
}
