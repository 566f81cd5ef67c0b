import type { Appender } from '../../log/append.ts'
import type { HeldTables } from '../../log/held/held-tables.ts'
import type { Draft } from '../../protocol/draft.ts'
import type { Ms } from '../../protocol/moment.ts'
import type { Seq } from '../../protocol/seq.ts'
import type { BalancesSetting, BooksRefusal } from '../admission/admission.ts'
import type { FailedOutcome, Outcome } from '../admission/outcome.ts'
import type { EarlierCache } from '../held/earlier-held.ts'
import { openEarlierCache } from '../held/earlier-held.ts'
import type { HeldDrafts } from '../held/held-drafts.ts'
import { openHeldDrafts } from '../held/held-drafts.ts'
import type { HeldQueue } from '../held/held-queue.ts'
import { openHeldChanges, openHeldLists } from '../held/held-queue.ts'
import type { Release } from '../held/release.ts'
import { openRelease } from '../held/release.ts'
import type { CommitFailureSettings } from './commit-failure.ts'
import { afterFailure, UNAVAILABLE, WRONG_CLOCK } from './commit-failure.ts'
import { publishRequest } from './publish-request.ts'

/**
 * A commit: its requests, the drafts that are held after it, and the milliseconds from the arrival of its first request
 * until it was on the disk.
 */
type CommitSize = Readonly<{ requests: number; held: number; ms: number }>
/** A commit with events: its last seq and moment, and the number of its events. */
export type Committed = CommitSize & Readonly<{ seq: Seq; atMs: Ms; events: number }>
/** A commit without events after which more drafts are held: how many more. */
export type CommittedHeld = CommitSize & Readonly<{ added: number }>

export type CommitQueue = Readonly<{
  /** Publishes or holds the drafts of one request, all or none. Settles when they are on the disk. */
  submit(drafts: readonly Draft[]): Promise<Outcome>
  held: HeldQueue
  /** Ends the queue. Settles after its last commit: the store may be closed then. */
  close(): Promise<void>
}>

type CommitQueueSettings = Readonly<{
  appender: Appender
  /** Tables of held drafts in the same store. */
  tables: HeldTables
  /** Whether a draft with a transaction is held until the chain says that it is final (`--finality`). */
  asksChain: boolean
  /** `report` publishes and reports drafts whose order or balance is wrong. */
  balances: BalancesSetting
  /** Read once for each commit. */
  now(): Ms
  /** Whether `now` can be believed. Nothing is published while it cannot. */
  clockAgrees(): boolean
  monotonicMs(): number
  /** Called after each commit, also one without events, before its requests are answered. */
  onDurable(head: Seq): void
  /** Called after each commit with events, before its publishers are answered. */
  onCommit(committed: Committed): void
  /** Called after each commit that only holds drafts. */
  onHeld(held: CommittedHeld): void
  /** Called for each draft that was published although its order or balance is wrong. */
  onIrregular(refusal: BooksRefusal): void
}> &
  CommitFailureSettings

/** Most drafts of a commit, over all its requests. Bounds how long a reader waits for the next head. */
const COMMIT_DRAFTS_MAX = 20_000

/** A request that waits for its commit. */
type WaitingRequest = Readonly<{
  drafts: number
  /** When it arrived, in milliseconds of the monotonic clock. */
  arrivedMs: number
  /** Runs the request in the transaction. Returns what answers it, to be called after the commit. */
  run(): () => void
  refuse(outcome: FailedOutcome): void
}>

/**
 * Opens the queue of commits. Requests that arrive during a commit share the next one. A request publishes or holds its
 * drafts (`publish-request.ts`), or changes held ones (`held-queue.ts`). At the end of a commit, held drafts that its
 * events let go are published (`release.ts`).
 */
export function openCommitQueue(settings: CommitQueueSettings): CommitQueue {
  const { appender, tables } = settings
  const held = openHeldDrafts(tables, settings.asksChain)
  const earlier = openEarlierCache(appender.fold, held)
  let moment = settings.now()
  // A month can only end between two commits, because all events of a commit have one `at`.
  const now = (): Ms => moment
  const release = openRelease({ ...settings, now, held, earlier })
  const holding = { held, earlier, release }
  const parts = { ...settings, ...holding, now }
  const changes = openHeldChanges({ ...parts, published: appender.published })
  const waiting: WaitingRequest[] = []
  let broken = false
  let closed = false

  function run(): void {
    const batch = takeBatch(waiting)
    if (waiting.length > 0) setImmediate(run)
    moment = settings.now()
    const outcome = broken ? UNAVAILABLE : commit(settings, holding, batch)
    broken ||= outcome === UNAVAILABLE
    if ('ok' in outcome) return batch.forEach(({ refuse }) => refuse(outcome))
    for (const answer of outcome) answer()
    goOn()
  }

  /** Goes on with the release. Every commit ends with one, so this is a commit without requests. */
  function goOn(): void {
    if (release.isUnfinished() && !closed) void enqueue(0, () => undefined)
  }

  /** Runs the work in the next commit. Settles when that is on the disk. */
  function enqueue<Result>(drafts: number, work: () => Result): Promise<Result | FailedOutcome> {
    return new Promise((settle) => {
      const answerOf = (result: Result) => () => settle(result)
      waiting.push({ drafts, arrivedMs: settings.monotonicMs(), run: () => answerOf(work()), refuse: settle })
      // The commit is deferred, so that requests of the same turn of the event loop share it.
      if (waiting.length === 1) setImmediate(run)
    })
  }

  // The last process may have ended in the middle of a release, and an import changes the books.
  release.touchAll()
  goOn()

  return {
    submit: (drafts) => enqueue(drafts.length, () => publishRequest(parts, drafts)),
    held: {
      settle: (settlements) => enqueue(settlements.length, () => changes.settle(settlements)),
      release: (refs) => enqueue(refs.length, () => changes.release(refs)),
      vouch: (refs, reason) => enqueue(refs.length, () => changes.vouch(refs, reason)),
      drop: (refs, reason) => enqueue(refs.length, () => changes.drop(refs, reason)),
      ...openHeldLists(held, tables),
    },
    async close() {
      closed = true
      if (waiting.length > 0) await enqueue(0, () => undefined)
    },
  }
}

type Holding = Readonly<{ held: HeldDrafts; earlier: EarlierCache; release: Release }>

/** Makes one commit of the requests. Returns what answers them, or the failure that undid all of them. */
function commit(
  settings: CommitQueueSettings,
  { held, earlier, release }: Holding,
  batch: readonly WaitingRequest[],
): readonly (() => void)[] | FailedOutcome {
  if (!settings.clockAgrees()) return WRONG_CLOCK
  const { appender } = settings
  const arrivedMs = batch[0]?.arrivedMs ?? settings.monotonicMs()
  const before = appender.head()
  const heldBefore = held.size()
  try {
    appender.begin()
    release.begin()
    // A crash before the commit returns leaves nothing of the batch.
    const answers = batch.map((request) => request.run())
    release.run()
    const head = appender.commit()
    settings.onDurable(head.seq)
    // A crash after it leaves everything. A publisher without an answer sends its refs again.
    const size = { requests: batch.length, held: held.size(), ms: settings.monotonicMs() - arrivedMs }
    if (head.seq > before.seq && head.atMs !== null) {
      settings.onCommit({ seq: head.seq, atMs: head.atMs, events: head.seq - before.seq, ...size })
    } else if (size.held > heldBefore) {
      settings.onHeld({ added: size.held - heldBefore, ...size })
    }
    return answers
  } catch (error) {
    const drafts = batch.reduce((sum, request) => sum + request.drafts, 0)
    const failure = afterFailure(settings, error, drafts)
    if (failure === UNAVAILABLE) return failure
    held.reload()
    earlier.clear()
    release.touchAll()
    return failure
  }
}

function takeBatch(waiting: WaitingRequest[]): readonly WaitingRequest[] {
  let drafts = 0
  const count = waiting.findIndex((request) => {
    drafts += request.drafts
    return drafts > COMMIT_DRAFTS_MAX
  })
  return waiting.splice(0, count < 0 ? waiting.length : Math.max(count, 1))
}
