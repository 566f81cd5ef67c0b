import type { Appender } from '../../log/append.ts'
import type { HeldTables } from '../../log/held/held-tables.ts'
import type { Head } from '../../project/fold/books.ts'
import type { Ms } from '../../protocol/moment.ts'
import type { Seq } from '../../protocol/seq.ts'
import type { BalancesSetting, BooksRefusal } from '../admission/admission.ts'
import { type EarlierCache, openEarlierCache } from '../held/earlier-held.ts'
import { type HeldDrafts, openHeldDrafts } from '../held/held-drafts.ts'
import { openRelease, type Release } from '../held/release.ts'
import type { CommitWork } from './commit-path.ts'
import type { WaitingRequest } from './waiting-requests.ts'

/**
 * A commit: its requests, the drafts that are held after it, and the milliseconds from the arrival of its first request
 * until it was on the disk.
 */
type CommitSize = Readonly<{ requests: number; held: number; ms: number }>
/** A commit with events: its last seq and moment, and the number of its events. */
export type Committed = CommitSize & Readonly<{ seq: Seq; atMs: Ms; events: number }>
/** A commit without events after which more drafts are held: how many more. */
export type CommittedHeld = CommitSize & Readonly<{ added: number }>

/** Inputs and listeners of the work of a commit. */
export type BatchSettings = Readonly<{
  appender: Appender
  /** Tables of held drafts in the same store. */
  tables: HeldTables
  /** The held drafts in memory; those of the tables if absent. */
  held?: HeldDrafts
  /** Whether a draft with a transaction is held until the chain says that it is final (`--finality`). */
  asksChain: boolean
  /** `report` publishes and reports drafts whose order or balance is wrong. */
  balances: BalancesSetting
  /** Read once for each commit. */
  now(): Ms
  monotonicMs(): number
  /** Called after each commit, also one without events, before its requests are answered. */
  onDurable(head: Seq): void
  /** Called after each commit with events, before its publishers are answered. */
  onCommit(committed: Committed): void
  /** Called after each commit that only holds drafts. */
  onHeld(held: CommittedHeld): void
  /** Called for each draft that was published although its order or balance is wrong. */
  onIrregular(refusal: BooksRefusal): void
  /** Whether the open commit has room for a further held draft. */
  hasRoom(): boolean
  /** Keeps room of this size in the open commit. */
  reserve(size: number): void
}>

/** Held drafts in memory, their release, and the moment of the commit that is being built. */
type BatchParts = BatchSettings & Readonly<{ held: HeldDrafts; earlier: EarlierCache; release: Release }>

/** The work of commits, the same on every path. */
export type BatchWork = Readonly<{
  parts: BatchParts
  /** The work of one commit. It builds what answers each request. */
  workOf(batch: readonly WaitingRequest[]): CommitWork<readonly (() => void)[]>
  /** Reads the held drafts in memory again, after a rollback. */
  undone(): void
  /** Forgets what followed from the former books, after commits of another node. */
  applied(): void
}>

export function openBatchWork(settings: BatchSettings): BatchWork {
  const { appender, tables } = settings
  const held = settings.held ?? openHeldDrafts(tables, settings.asksChain)
  const earlier = openEarlierCache(appender.fold, held)
  let moment = settings.now()
  // A month can only end between two commits, because all events of a commit have one `at`.
  const now = (): Ms => moment
  let irregular: BooksRefusal[] = []
  const onIrregular = (refusal: BooksRefusal): void => void irregular.push(refusal)
  const release = openRelease({ ...settings, now, held, earlier, onIrregular })

  function undone(): void {
    // A given set of held drafts is undone with its tables.
    if (settings.held === undefined) held.reload()
    earlier.clear()
  }

  function workOf(batch: readonly WaitingRequest[]): CommitWork<readonly (() => void)[]> {
    let [before, after] = [stateOf(appender, held), stateOf(appender, held)]
    return {
      drafts: batch.reduce((sum, { drafts }) => sum + drafts, 0),
      build() {
        irregular = []
        moment = settings.now()
        before = stateOf(appender, held)
        release.begin()
        const answers = runAll(batch, settings.reserve)
        release.run()
        after = stateOf(appender, held)
        return answers
      },
      durable() {
        release.durable()
        settings.onDurable(after.head.seq)
        const ms = settings.monotonicMs() - (batch[0]?.arrivedMs ?? settings.monotonicMs())
        tellCommit(settings, before, after, { requests: batch.length, held: after.held, ms })
        for (const refusal of irregular) settings.onIrregular(refusal)
      },
      undone,
    }
  }

  return {
    parts: { ...settings, held, earlier, release, now, onIrregular },
    workOf,
    undone,
    applied: earlier.clear,
  }
}

/** Runs the requests of a commit. Each leaves room for those behind it, as what it releases could fill the commit. */
function runAll(batch: readonly WaitingRequest[], reserve: (size: number) => void): readonly (() => void)[] {
  let rest = batch.reduce((sum, { size }) => sum + size, 0)
  return batch.map(({ size, run }) => {
    rest -= size
    reserve(rest)
    return run()
  })
}

/** Head of the log and number of held drafts. */
type BooksState = Readonly<{ head: Head; held: number }>

function stateOf(appender: Appender, held: HeldDrafts): BooksState {
  return { head: appender.head(), held: held.size() }
}

function tellCommit(
  { onCommit, onHeld }: BatchSettings,
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
