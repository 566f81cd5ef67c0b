import type { Appender } from '../../log/append.ts'
import type { Draft, DraftReceipt } from '../../protocol/draft.ts'
import type { Ms } from '../../protocol/moment.ts'
import type { ProblemCode } from '../../protocol/problem.ts'
import type { Seq } from '../../protocol/seq.ts'
import type { BooksRefusal } from '../admission/admission.ts'
import { refusalOf, refusalOfBalance, refusalOfFacts, refusalOfOrder } from '../admission/admission.ts'
import { draftDigest } from '../admission/grammar.ts'

/** What became of one request: a receipt for each draft, or one refusal and nothing of it published. */
export type Outcome =
  | Readonly<{ ok: true; receipts: readonly DraftReceipt[] }>
  | Readonly<{ ok: false; code: ProblemCode; index: number | null; field: string | null; reason: string }>

/** One commit: up to which seq, how many events and requests it holds, and how long it took. */
export type Committed = Readonly<{ seq: Seq; atMs: Ms; events: number; requests: number; ms: number }>

export type CommitQueue = Readonly<{
  /** Publishes the drafts of one request, all or none; settles when they are on the disk. */
  submit(drafts: readonly Draft[]): Promise<Outcome>
}>

type CommitQueueSettings = Readonly<{
  appender: Appender
  /** `report` publishes what the books refuse, and counts it. */
  balances: 'refuse' | 'report'
  now(): Ms
  monotonicMs(): number
  /** Called after each commit and before its publishers are answered. */
  onCommit(committed: Committed): void
  /** Called for each draft that was published though the books refuse it. */
  onIrregular(refusal: BooksRefusal): void
  /** Tries whether the disk is full: whether it refuses about so many bytes for want of room. */
  isDiskFull(bytes: number): boolean
  /** Called when a commit was refused because the disk is full. */
  onFull(): void
  /** Called when the disk failed in a way after which nothing in memory may be trusted. */
  onBroken(error: Error): void
}>

/** Drafts of one commit at most, over all its requests: it bounds how long a reader waits for the next head. */
const COMMIT_DRAFTS_MAX = 20_000

type Waiting = Readonly<{ drafts: readonly Draft[]; settle: (outcome: Outcome) => void }>

/** Opens the queue in front of the log: requests that wait while one commit is made share the next. */
export function openCommitQueue(settings: CommitQueueSettings): CommitQueue {
  const waiting: Waiting[] = []
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
        // Requests that arrive in the same turn of the loop, or while a commit holds it, go together.
        if (waiting.length === 1) setImmediate(run)
      }),
  }
}

function takeBatch(waiting: Waiting[]): readonly Waiting[] {
  let drafts = 0
  const count = waiting.findIndex((request) => {
    drafts += request.drafts.length
    return drafts > COMMIT_DRAFTS_MAX
  })
  return waiting.splice(0, count < 0 ? waiting.length : Math.max(count, 1))
}

/** Makes one commit of the requests. Null when the disk failed and the store must not be written again. */
function commit(settings: CommitQueueSettings, batch: readonly Waiting[]): readonly Outcome[] | null {
  const { appender } = settings
  const began = settings.monotonicMs()
  const before = appender.head()
  try {
    appender.begin()
    // A crash anywhere before the commit returns leaves nothing of the batch.
    const outcomes = batch.map(({ drafts }) => publish(settings, drafts))
    const head = appender.commit()
    // A crash from here on leaves everything: a publisher that was not answered asks again by its refs.
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

/** Appends one request's drafts; keeps all of them or none. */
function publish(settings: CommitQueueSettings, drafts: readonly Draft[]): Outcome {
  const { appender } = settings
  const receipts: DraftReceipt[] = []
  const irregular: BooksRefusal[] = []
  for (const [index, draft] of drafts.entries()) {
    const ref = draft.ref ?? ''
    const digest = draftDigest(draft)
    const published = appender.published(ref)
    if (published !== undefined) {
      if (!sameBytes(published.digest, digest)) {
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
    const refusal = admit(settings, draft, irregular)
    if (refusal !== null) {
      appender.drop()
      return { ok: false, index, ...refusal }
    }
    const event = appender.append(draft, { ref, digest }, settings.now())
    receipts.push({ ref, status: 'published', seq: event.seq })
  }
  appender.keep()
  for (const refusal of irregular) settings.onIrregular(refusal)
  return { ok: true, receipts }
}

function admit(settings: CommitQueueSettings, draft: Draft, irregular: BooksRefusal[]): BooksRefusal | null {
  const fold = settings.appender.fold()
  if (settings.balances === 'refuse') return refusalOf(fold, draft)
  const impossible = refusalOfFacts(fold, draft)
  const refusal = impossible ?? refusalOfOrder(fold, draft) ?? refusalOfBalance(fold, draft)
  if (impossible === null && refusal !== null) irregular.push(refusal)
  return impossible
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index])
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

const SQLITE_FULL = 13
const SQLITE_IOERR = 10
/** What SQLite says of a write that failed for another reason than no space: a quota, or anything. */
const SQLITE_IOERR_WRITE = 778
/** Bytes that a commit writes at most, about: of itself, and for each draft. */
const COMMIT_BYTES = 256 * 1024
const DRAFT_BYTES = 4 * 1024

/**
 * After a failed write nothing of the batch stands. A full disk is said and publishing goes on when there is room
 * again; any other failure of the disk ends the writer, because what an fsync has failed to write is unknown.
 */
function afterFailure(
  { appender, isDiskFull, onBroken, onFull }: CommitQueueSettings,
  error: unknown,
  batch: readonly Waiting[],
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
