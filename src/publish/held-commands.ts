import type { Appender } from '../log/append.ts'
import type { HeldDraft, EndedDraft } from '../log/held/held-draft.ts'
import { assert } from '../protocol/brand.ts'
import type { Ms } from '../protocol/moment.ts'
import type { Seq } from '../protocol/seq.ts'
import type { FailedOutcome } from './admission/outcome.ts'
import type { CommitPath, Enqueue } from './commit-path.ts'
import { type HeldDrafts, isReady } from './held-drafts.ts'
import type { Release } from './release.ts'
import type { ExpectedCache } from './decide.ts'

/**
 * Verdict of the chain on a transaction, for all held drafts that name it. `excess`: their amounts exceed what the
 * transaction moved, so they stay held with the reason. `drafts` limits a final verdict to these ids. Drafts accepted
 * after the comparison of amounts then wait for another verdict.
 */
export type Settlement = Readonly<
  { tx: string } & (
    | { is: 'final'; place: string; drafts?: readonly number[] }
    | { is: 'failed'; place: string; reason: string }
    | { is: 'excess'; reason: string }
  )
>

/** Effect of settlements: published drafts, failed drafts, and final drafts that are still held. */
type Settled = Readonly<{ ok: true; published: number; failed: number; refused: number }>

/** State of a draft after a command of the operator. `unknown`: no draft with this ref was ever held. */
type HeldOutcome = Readonly<
  { ref: string } & (
    | { status: 'published'; seq: Seq }
    | { status: 'held'; chain: HeldDraft['chain']; reason: string | null }
    | { status: 'failed' | 'dropped'; reason: string }
    | { status: 'unknown' }
  )
>
type HeldOutcomes = Readonly<{ ok: true; drafts: readonly HeldOutcome[] }>

/**
 * Commands about held drafts, for the gate and the operator, and reads. Each change is one transaction, which is on the
 * disk when its promise resolves. It fails as a commit does: `clock`, `store-full`, `store-unavailable`, `too-large`;
 * on a log that several nodes share also `not-leading` and `outcome-unknown`. After `outcome-unknown` or
 * `store-unavailable` the change may have been made. After any other code nothing has changed.
 */
export type HeldCommands = Readonly<{
  /** Applies verdicts of the blockchain with the id `chain`. Another blockchain than the log's settles nothing. */
  settle(settlements: readonly Settlement[], chain: string): Promise<Settled | FailedOutcome>
  /** Checks the books again for all drafts that wait for no verdict of the chain. */
  release(refs: readonly string[]): Promise<HeldOutcomes | FailedOutcome>
  /** Replaces the chain's verdict by the operator's decision. */
  vouch(refs: readonly string[], reason: string): Promise<HeldOutcomes | FailedOutcome>
  /** Drops held drafts by the operator's decision. */
  drop(refs: readonly string[], reason: string): Promise<HeldOutcomes | FailedOutcome>
  /**
   * Resolves when no commit is being made, so that held drafts can be read. The reader must read immediately, because
   * the next commit may begin a few promises later. Rejects when the signal is aborted while a commit is open.
   */
  quiet(signal?: AbortSignal): Promise<void>
  /** Drafts that wait for the verdict of the chain, in order of acceptance. */
  asked(): readonly HeldDraft[]
  /** Those of them whose transaction is written so. */
  askedAbout(tx: string): readonly HeldDraft[]
  /** Held drafts that name a transaction, in either case of hex digits, in order of acceptance. */
  naming(tx: string): readonly HeldDraft[]
  /** Held drafts after the id `after` that pass the filter, in order of acceptance. */
  list(after: number, limit: number, passes?: (draft: HeldDraft) => boolean): readonly HeldDraft[]
  /** Failed or dropped drafts after the id `after`, in order of acceptance. */
  listEnded(state: EndedDraft['state'], after: number, limit: number): readonly EndedDraft[]
}>

type HeldCommandSettings = Readonly<{
  appender: Pick<Appender, 'published'>
  held: HeldDrafts
  expected: ExpectedCache
  release: Release
  path: CommitPath
  now(): Ms
  enqueue: Enqueue
  quiet: HeldCommands['quiet']
}>

/** Opens the commands, which run in the commits of the queue, and the reads. */
export function openHeldCommands(settings: HeldCommandSettings): HeldCommands {
  const { appender, held, expected, release, path, now, enqueue, quiet } = settings

  /** The held drafts, for reading in this turn. */
  function readable(): HeldDrafts {
    assert(!path.isOpen(), 'held drafts are read while no commit is open')
    return held
  }

  /** Ends a draft that will never be published. */
  function end(draft: HeldDraft, state: EndedDraft['state'], place: string | null, reason: string): void {
    held.end(draft, { state, settledAt: now(), place, reason })
    expected.forget(draft.draft.contestId)
    release.touch(draft.draft.contestId)
  }

  /** Marks a draft that no longer waits for the chain. */
  function makeReady(draft: HeldDraft, by: Partial<Pick<HeldDraft, 'chain' | 'place' | 'vouch'>>): void {
    held.change({ ...draft, ...by, settledAt: now(), reason: null })
    release.touch(draft.draft.contestId)
  }

  /** Runs the release. Its events can change the treasury, on which other contests depend. */
  function releaseAll(): number {
    release.touch('dependent')
    return release.run()
  }

  /** Applies verdicts of the chain, and publishes the drafts that they release. */
  function settle(settlements: readonly Settlement[], chain: string): Settled {
    if (held.chain() === null) held.keepChain(chain)
    if (held.chain() !== chain) return { ok: true, published: 0, failed: 0, refused: 0 }
    const verdicts = new Map(settlements.map((verdict) => [verdict.tx, verdict]))
    const drafts = [...verdicts.keys()].flatMap((tx) => askedAbout(held, tx))
    let failed = 0
    for (const draft of drafts) {
      const verdict = verdicts.get(draft.draft.tx ?? '')
      if (verdict?.is === 'final' && verdict.drafts?.includes(draft.id) !== false) {
        makeReady(draft, { chain: 'final', place: verdict.place })
      } else if (verdict?.is === 'failed') {
        failed += 1
        end(draft, 'failed', verdict.place, verdict.reason)
      } else if (verdict?.is === 'excess' && verdict.reason !== draft.reason) {
        held.change({ ...draft, reason: verdict.reason })
      }
    }
    const published = releaseAll()
    const refused = drafts.filter(({ ref }) => held.find(ref)?.chain === 'final').length
    return { ok: true, published, failed, refused }
  }

  /** Runs an operator's command about some drafts, and publishes the drafts that it releases. */
  function command(
    refs: readonly string[],
    reason: string,
    change: () => void,
  ): Promise<HeldOutcomes | FailedOutcome> {
    return enqueue(path.sizeOfDecision(refs.length, reason), () => {
      change()
      releaseAll()
      return { ok: true, drafts: refs.map(outcomeOf) }
    })
  }

  function* heldBy(refs: readonly string[]): Generator<HeldDraft, void> {
    for (const ref of refs) {
      const draft = held.find(ref)
      if (draft !== undefined) yield draft
    }
  }

  function outcomeOf(ref: string): HeldOutcome {
    const draft = held.find(ref)
    if (draft !== undefined) return { ref, status: 'held', chain: draft.chain, reason: draft.reason }
    const event = appender.published(ref)
    if (event !== undefined) return { ref, status: 'published', seq: event.seq }
    const ended = held.ended(ref)
    if (ended !== undefined) return { ref, status: ended.state, reason: ended.reason }
    return { ref, status: 'unknown' }
  }

  return {
    settle(verdicts, chain) {
      const sizes = verdicts.map((verdict) => {
        const named = askedAbout(readable(), verdict.tx).length
        return path.sizeOfVerdict(named, 'reason' in verdict ? verdict.reason : verdict.place)
      })
      const size = sizes.reduce((sum, one) => sum + one, 0)
      return enqueue(size, () => settle(verdicts, chain))
    },
    release: (refs) => command(refs, '', () => release.touch('all')),
    vouch: (refs, reason) =>
      command(refs, reason, () => {
        for (const draft of heldBy(refs))
          if (!isReady(draft)) makeReady(draft, { chain: 'vouched', vouch: reason })
      }),
    drop: (refs, reason) =>
      command(refs, reason, () => {
        for (const draft of heldBy(refs)) end(draft, 'dropped', draft.place, reason)
      }),
    quiet,
    asked: () => [...readable().all()].filter((draft) => !isReady(draft)),
    askedAbout: (tx) => askedAbout(readable(), tx),
    naming: (tx) => readable().naming(tx),
    list(after, limit, passes = () => true) {
      const page: HeldDraft[] = []
      for (const draft of readable().all()) {
        if (page.length >= limit) break
        if (draft.id > after && passes(draft)) page.push(draft)
      }
      return page
    },
    listEnded: (state, after, limit) => readable().endedAfter(state, after, limit),
  }
}

/** Held drafts that wait for the chain's verdict on a transaction with exactly this spelling. */
function askedAbout(held: HeldDrafts, tx: string): readonly HeldDraft[] {
  return held.naming(tx).filter((draft) => draft.draft.tx === tx && !isReady(draft))
}
