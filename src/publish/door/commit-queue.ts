import type { Appender } from '../../log/append.ts'
import type { Draft, DraftReceipt } from '../../protocol/draft.ts'
import type { Ms } from '../../protocol/moment.ts'
import type { ProblemCode } from '../../protocol/problem.ts'
import type { Seq } from '../../protocol/seq.ts'
import type { BalancesSetting, BooksRefusal } from '../admission/admission.ts'
import { judgeDraft } from '../admission/admission.ts'
import { draftDigest } from '../admission/grammar.ts'

/** Result of a request: a receipt for each draft, or one refusal for the whole request. */
export type Outcome =
  | Readonly<{ ok: true; receipts: readonly DraftReceipt[] }>
  | Readonly<{ ok: false; code: ProblemCode; index: number | null; field: string | null; reason: string }>

/** A commit: its last seq and moment, its events and requests, and its duration in milliseconds. */
export type Committed = Readonly<{ seq: Seq; atMs: Ms; events: number; requests: number; ms: number }>

export type CommitQueue = Readonly<{
  /** Publishes the drafts of one request, all or none. Settles when they are on the disk. */
  submit(drafts: readonly Draft[]): Promise<Outcome>
}>

type CommitQueueSettings = Readonly<{
  appender: Appender
  /** `report` publishes and reports drafts whose order or balance is wrong. */
  balances: BalancesSetting
  now(): Ms
  /** Whether `now` can be believed. Nothing is published while it cannot. */
  clockAgrees(): boolean
  monotonicMs(): number
  /** Called after each commit, before its publishers are answered. */
  onCommit(committed: Committed): void
  /** Called for each draft that was published although its order or balance is wrong. */
  onIrregular(refusal: BooksRefusal): void
  /** Whether the disk has no room for about so many bytes. */
  isDiskFull(bytes: number): boolean
  /** Called when a commit was refused because the disk is full. */
  onFull(): void
  /** Called after a failure that makes the store unusable for this process. */
  onBroken(error: Error): void
}>

/** Most drafts of a commit, over all its requests. Bounds how long a reader waits for the next head. */
const COMMIT_DRAFTS_MAX = 20_000

type WaitingRequest = Readonly<{ drafts: readonly Draft[]; settle: (outcome: Outcome) => void }>

/** Opens the queue of commits. Requests that arrive during a commit share the next one. */
export function openCommitQueue(settings: CommitQueueSettings): CommitQueue {
  const waiting: WaitingRequest[] = []
  let broken = false

  function run(): void {
    const batch = takeBatch(waiting)
    if (waiting.length > 0) setImmediate(run)
    const outcomes = broken ? batch.map(() => UNAVAILABLE) : commit(settings, batch)
    if (outcomes === null) broken = true
    batch.forEach(({ settle }, index) => settle(outcomes?.[index] ?? UNAVAILABLE))
  }

  return {
    submit: (drafts) =>
      new Promise((settle) => {
        waiting.push({ drafts, settle })
        // The commit is deferred, so that requests of the same turn of the event loop share it.
        if (waiting.length === 1) setImmediate(run)
      }),
  }
}

function takeBatch(waiting: WaitingRequest[]): readonly WaitingRequest[] {
  let drafts = 0
  const count = waiting.findIndex((request) => {
    drafts += request.drafts.length
    return drafts > COMMIT_DRAFTS_MAX
  })
  return waiting.splice(0, count < 0 ? waiting.length : Math.max(count, 1))
}

/** Makes one commit of the requests. Null after a failure after which the store must not be written again. */
function commit(settings: CommitQueueSettings, batch: readonly WaitingRequest[]): readonly Outcome[] | null {
  if (!settings.clockAgrees()) return batch.map(() => WRONG_CLOCK)
  const { appender } = settings
  const began = settings.monotonicMs()
  const before = appender.head()
  try {
    appender.begin()
    // A crash before the commit returns leaves nothing of the batch.
    const outcomes = batch.map(({ drafts }) => publish(settings, drafts))
    const head = appender.commit()
    // A crash after it leaves everything. A publisher without an answer sends its refs again.
    if (head.seq > before.seq && head.atMs !== null) {
      const ms = settings.monotonicMs() - began
      const events = head.seq - before.seq
      settings.onCommit({ seq: head.seq, atMs: head.atMs, events, requests: batch.length, ms })
    }
    return outcomes
  } catch (error) {
    return afterFailure(settings, error, batch)
  }
}

/** Appends the drafts of one request. Keeps all or none. */
function publish(settings: CommitQueueSettings, drafts: readonly Draft[]): Outcome {
  const { appender } = settings
  const receipts: DraftReceipt[] = []
  const irregular: BooksRefusal[] = []
  for (const [index, draft] of drafts.entries()) {
    const ref = draft.ref ?? ''
    const digest = draftDigest(draft)
    const published = appender.published(ref)
    if (published !== undefined) {
      if (Buffer.compare(published.digest, digest) !== 0) {
        appender.drop()
        return {
          ok: false,
          code: 'ref-conflict',
          index,
          field: 'ref',
          reason: 'was used for another content',
        }
      }
      receipts.push({ ref, status: 'duplicate', seq: published.seq })
      continue
    }
    const verdict = judgeDraft(appender.fold(), draft, settings.balances)
    if (verdict.refusal !== null) {
      appender.drop()
      return { ok: false, index, ...verdict.refusal }
    }
    if (verdict.irregular !== null) irregular.push(verdict.irregular)
    const event = appender.append(draft, { ref, digest }, settings.now())
    receipts.push({ ref, status: 'published', seq: event.seq })
  }
  appender.keep()
  for (const refusal of irregular) settings.onIrregular(refusal)
  return { ok: true, receipts }
}

const UNAVAILABLE: Outcome = {
  ok: false,
  code: 'store-unavailable',
  index: null,
  field: null,
  reason: 'the store does not accept events',
}

const FULL: Outcome = {
  ok: false,
  code: 'store-full',
  index: null,
  field: null,
  reason: 'the disk is full; nothing was published',
}

const WRONG_CLOCK: Outcome = {
  ok: false,
  code: 'clock',
  index: null,
  field: null,
  reason: 'the clock of the machine is wrong by a minute or more; nothing was published',
}

const SQLITE_FULL = 13
const SQLITE_IOERR = 10
/** SQLite's code for a failed write, among other causes over a disk quota. */
const SQLITE_IOERR_WRITE = 778
/** Bytes that a commit writes, roughly and at most: a fixed part, and a part for each draft. */
const COMMIT_BYTES = 256 * 1024
const DRAFT_BYTES = 4 * 1024

/**
 * Rolls a failed commit back. When the disk is full, publishing resumes once there is room. Any other failure ends the
 * writer, because it is unknown what a failed fsync has written.
 */
function afterFailure(
  { appender, isDiskFull, onBroken, onFull }: CommitQueueSettings,
  error: unknown,
  batch: readonly WaitingRequest[],
): readonly Outcome[] | null {
  const code = error instanceof Error && 'errcode' in error ? Number(error.errcode) : 0
  try {
    appender.rollback()
  } catch (cause) {
    onBroken(new Error('the store could not be rolled back', { cause }))
    return null
  }
  const bytes = COMMIT_BYTES + DRAFT_BYTES * batch.reduce((sum, { drafts }) => sum + drafts.length, 0)
  const full = (code & 0xff) === SQLITE_FULL || (code === SQLITE_IOERR_WRITE && isDiskFull(bytes))
  if (full) {
    onFull()
    return batch.map(() => FULL)
  }
  const what = (code & 0xff) === SQLITE_IOERR ? 'the disk failed' : 'a commit failed'
  onBroken(new Error(what, { cause: error }))
  return null
}
