/**
 * The room `publish` is the only way of a draft into a log. It admits a draft (grammar, no wallet address, order,
 * balance), then publishes or holds it with `log/append.ts`. It knows the log and its folds, and nothing of readers. An
 * option can add another path of commits (`commit-path.ts`), and settle held drafts (`held-commands.ts`).
 *
 * Begin here, with one commit from its requests to their answers. `publish-request.ts` admits the drafts of a request,
 * `release.ts` publishes held ones, and `api/publish-api.ts` accepts requests over HTTP. All of this runs in the thread
 * of `writer/run-writer.ts`.
 */
import { setImmediate as turn } from 'node:timers/promises'
import type { Appender } from '../log/append.ts'
import type { Head } from '../project/fold/books.ts'
import type { Draft } from '../protocol/draft.ts'
import type { Ms } from '../protocol/moment.ts'
import type { Seq } from '../protocol/seq.ts'
import type { BalancesSetting, BooksRefusal } from './admission/admission.ts'
import { requestRefusal, type FailedOutcome, type Outcome } from './admission/outcome.ts'
import {
  type BookChange,
  type CommitFailureSettings,
  type CommitPath,
  openOwnPath,
  UNAVAILABLE,
} from './commit-path.ts'
import { openExpectedCache } from './decide.ts'
import { type HeldCommands, openHeldCommands } from './held-commands.ts'
import type { HeldDrafts } from './held-drafts.ts'
import { openRelease } from './release.ts'
import { publishRequest } from './publish-request.ts'

export type CommitQueue = Readonly<{
  /** Publishes or holds the drafts of one request, all or none. Settles when they are on the disk. */
  submit(drafts: readonly Draft[]): Promise<Outcome>
  held: HeldCommands
  /** Must be called after each change of the books on a path that several nodes share, including operator steps. */
  changed(change: BookChange): void
  /** Continues the unfinished work of the node with the newest commit. Must be called when this node begins to lead. */
  lead(): void
  /** Ends the queue. Settles after its last commit; then the store may be closed. */
  close(): Promise<void>
}>

/** Size of a commit: requests, drafts held after it, and milliseconds from the first request's arrival to the disk. */
type CommitSize = Readonly<{ requests: number; held: number; ms: number }>
/** A commit with events: its last seq and moment, and the number of its events. */
export type Committed = CommitSize & Readonly<{ seq: Seq; atMs: Ms; events: number }>
/** A commit without events that holds `added` more drafts. */
export type CommittedHeld = CommitSize & Readonly<{ added: number }>

type CommitQueueSettings = CommitFailureSettings &
  Readonly<{
    appender: Appender
    /** Held drafts of the same store. */
    held: HeldDrafts
    /** Path of commits; the store of this node by default. */
    path?: CommitPath
    /** `report` publishes and reports drafts whose order or balance is wrong. */
    balances: BalancesSetting
    /** Clock, read when the queue opens and at each build of a commit. */
    now(): Ms
    monotonicMs(): number
    /** Temporary refusal of all requests, such as for a wrong clock; null while they can be committed. */
    refusal(): FailedOutcome | null
    /** Called after each commit, even without events, before its requests are answered. */
    onDurable(head: Seq): void
    /** Called after each commit with events, before its publishers are answered. */
    onCommit(committed: Committed): void
    /** Called after each commit that only holds drafts. */
    onHeld(held: CommittedHeld): void
    /** Called for each draft that was published despite a wrong order or balance. */
    onIrregular(refusal: BooksRefusal): void
  }>

/** Request that waits for its commit: its work in the transaction, and the result of the work. */
type WaitingRequest = Readonly<{ size: number; arrivedMs: number; work(): unknown }> & {
  result: unknown
  /** Answers the request. */
  resolve(result: unknown): void
}

/** Time until a release continues whose commit failed. */
const RELEASE_RETRY_MS = 1_000

/** Opens the queue of commits. Requests that arrive during a commit share the next one. */
export function openCommitQueue(settings: CommitQueueSettings): CommitQueue {
  const { appender, held, monotonicMs } = settings
  const path = settings.path ?? openOwnPath(settings)
  const expected = openExpectedCache(appender.fold, held)
  let moment = settings.now()
  let irregular: BooksRefusal[] = []
  const now = (): Ms => moment
  const onIrregular = (refusal: BooksRefusal): void => void irregular.push(refusal)
  const release = openRelease({ ...settings, expected, now, onIrregular, hasRoom: path.hasRoom })
  const parts = { ...settings, expected, release, now, onIrregular }
  const readers = openQuiet(path)

  const waiting: WaitingRequest[] = []
  let [isRunning, isBroken, isClosed] = [false, false, false]
  let running = Promise.resolve()
  let retry: NodeJS.Timeout | null = null

  function enqueue<Result>(size: number, work: () => Result): Promise<Result | FailedOutcome> {
    if (size > path.requestMax) return Promise.resolve(TOO_LARGE)
    const { promise, resolve } = Promise.withResolvers<Result | FailedOutcome>()
    waiting.push({ size, arrivedMs: monotonicMs(), work, result: UNAVAILABLE, resolve })
    if (!isRunning) running = commitAll()
    return promise
  }

  /** Makes one commit after another while requests wait. */
  async function commitAll(): Promise<void> {
    isRunning = true
    while (waiting.length > 0) {
      // Requests of the same turn of the event loop share a commit.
      await turn()
      const requests = waiting.splice(0, commitLength(waiting, path.requestsMax))
      try {
        await commit(requests)
      } catch (cause) {
        settings.onBroken(new Error('a commit failed', { cause }))
        refuseAll(requests, UNAVAILABLE)
      }
      readers.wake()
    }
    isRunning = false
  }

  /** Makes one commit: the drafts that its requests publish or hold, and the held drafts that they release. */
  async function commit(requests: readonly WaitingRequest[]): Promise<void> {
    const refusal = isBroken ? UNAVAILABLE : settings.refusal()
    if (refusal !== null) return refuseAll(requests, refusal)

    const size = requests.reduce((sum, request) => sum + request.size, 0)
    let before = stateOf(appender, held)
    const end = await path.commit(size, () => {
      // All events of a commit have the same moment, so a month can only end between two commits.
      moment = settings.now()
      irregular = []
      before = stateOf(appender, held)
      release.begin()
      let rest = size
      for (const request of requests) {
        // Later requests keep their room, whatever this one releases.
        rest -= request.size
        path.reserve(rest)
        request.result = request.work()
      }
      release.run()
      return stateOf(appender, held)
    })
    // No publisher has an answer yet. A crash up to here leaves nothing of the commit, or all of it. It leaves all of
    // it if the fsync is done, or if the table of a carried log has its row. `outcome-unknown` may have left that row
    // too. Each publisher sends the same refs again either way.
    if (!end.ok) {
      if (end !== UNAVAILABLE) forgetUndone()
      return refuseAll(requests, end)
    }

    // The commit is on the disk. A crash from here on leaves all of it. A publisher without an answer sends the same
    // refs again, and gets their results.
    release.durable()
    // Every thread sees the new head from here on, before any publisher has an answer.
    settings.onDurable(end.built.head.seq)
    const ms = monotonicMs() - (requests[0]?.arrivedMs ?? monotonicMs())
    reportCommit(settings, before, end.built, { requests: requests.length, held: end.built.held, ms })
    for (const one of irregular) settings.onIrregular(one)
    for (const request of requests) request.resolve(request.result)
    goOn()
  }

  /**
   * Refuses the requests of a commit that failed or has an unknown outcome. After `UNAVAILABLE` the queue commits
   * nothing more. After any other refusal an unfinished release continues a second later, even without a request.
   */
  function refuseAll(requests: readonly WaitingRequest[], outcome: FailedOutcome): void {
    isBroken ||= outcome === UNAVAILABLE
    for (const request of requests) request.resolve(outcome)
    retry ??= setTimeout(() => {
      retry = null
      goOn()
    }, RELEASE_RETRY_MS).unref()
  }

  /** Continues an unfinished release. Every commit runs the release, so this queues a request without drafts. */
  function goOn(): void {
    if (release.isUnfinished() && !isClosed && !isBroken) void enqueue(0, () => undefined)
  }

  /** Reads the held drafts again after a rollback. */
  function forgetUndone(): void {
    held.reload()
    expected.clear()
  }

  function lead(): void {
    release.touch('all')
    goOn()
  }

  // The last process may have ended during a release, and an import changes the books.
  if (settings.path === undefined) lead()
  return {
    submit: (drafts) => enqueue(path.sizeOf(drafts), () => publishRequest(parts, drafts)),
    held: openHeldCommands({ ...parts, path, enqueue, quiet: readers.quiet }),
    changed(change) {
      if (change === 'undone') forgetUndone()
      if (change === 'applied') expected.clear()
      readers.wake()
    },
    lead,
    async close() {
      isClosed = true
      await running
    },
  }
}

const TOO_LARGE = requestRefusal(
  'too-large',
  'the drafts of one request do not fit one message to the machines that keep the log: divide it',
)

/** Number of requests at the front that fit one commit, at least 1. */
export function commitLength(requests: readonly Readonly<{ size: number }>[], sizeMax: number): number {
  let size = 0
  const length = requests.findIndex((request) => (size += request.size) > sizeMax)
  return length < 0 ? requests.length : Math.max(length, 1)
}

/** Head of the log and number of held drafts. */
type BooksState = Readonly<{ head: Head; held: number }>

function stateOf(appender: Appender, held: HeldDrafts): BooksState {
  return { head: appender.head(), held: held.size() }
}

function reportCommit(
  { onCommit, onHeld }: CommitQueueSettings,
  before: BooksState,
  { head, held }: BooksState,
  size: CommitSize,
): void {
  if (head.seq > before.head.seq && head.atMs !== null) {
    onCommit({ seq: head.seq, atMs: head.atMs, events: head.seq - before.head.seq, ...size })
  } else if (held > before.held) {
    onHeld({ added: held - before.held, ...size })
  }
}

/** Opens the wait of readers for the end of an open transaction. */
function openQuiet({ isOpen }: CommitPath): Readonly<{ quiet: HeldCommands['quiet']; wake(): void }> {
  const waiting = new Set<() => void>()
  return {
    // An async function would settle later, when the next transaction may be open.
    quiet(signal) {
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      const stop = (): void => {
        waiting.delete(wake)
        reject(new Error('the wait for the end of a commit was aborted', { cause: signal?.reason }))
      }
      const wake = (): void => {
        signal?.removeEventListener('abort', stop)
        resolve()
      }
      if (!isOpen()) resolve()
      else if (signal?.aborted === true) stop()
      else {
        signal?.addEventListener('abort', stop, { once: true })
        waiting.add(wake)
      }
      return promise
    },
    wake() {
      if (isOpen()) return
      const woken = [...waiting]
      waiting.clear()
      for (const wake of woken) wake()
    },
  }
}
