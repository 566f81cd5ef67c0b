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
 * transaction moved, so they stay held with the reason. `drafts`: numbers of the drafts that are final, when others with
 * the transaction may have been accepted since their amounts were compared.
 */
export type Settlement = Readonly<
  { tx: string } & (
    | { is: 'final'; place: string; drafts?: readonly number[] }
    | { is: 'failed'; place: string; reason: string }
    | { is: 'excess'; reason: string }
  )
>

/** Effect of settlements: drafts published, drafts that failed, and final drafts that are still held. */
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
 * Commands about held drafts, for the gate and the operator, and their reading. Each change is one transaction, which is on the disk when its promise
 * resolves. Its failures are those of a commit: `clock`, `store-full`, `store-unavailable`, `too-large`, and `not-leading`
 * or `outcome-unknown` on a log that several nodes share. After `outcome-unknown`, or a commit that failed with
 * `store-unavailable`, the change may have been made. After any other code nothing has changed.
 */
export type HeldCommands = Readonly<{
  /** `chain` is the id of the blockchain that was asked. Another one than that of the log settles nothing. */
  settle(settlements: readonly Settlement[], chain: string): Promise<Settled | FailedOutcome>
  /** Asks the books again for all drafts that wait for no verdict of the chain. */
  release(refs: readonly string[]): Promise<HeldOutcomes | FailedOutcome>
  /** Puts the operator's decision in the place of the chain's verdict. */
  vouch(refs: readonly string[], reason: string): Promise<HeldOutcomes | FailedOutcome>
  /** Gives held drafts up. */
  drop(refs: readonly string[], reason: string): Promise<HeldOutcomes | FailedOutcome>
  /**
   * Settles when the held drafts can be read: no commit is being made. The reader must read at once, because the next
   * commit may begin a few promises later. Rejects when the signal is aborted while a commit is open.
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

/** Opens the held drafts for changes, which run in the commits of the queue, and for reading. */
export function openHeldCommands(settings: HeldCommandSettings): HeldCommands {
  const { held, path, enqueue, quiet } = settings

  /** The held drafts, for reading in this turn. */
  function readable(): HeldDrafts {
    assert(!path.isOpen(), 'held drafts are read while no commit is open')
    return held
  }

  /** Runs a command of the operator about some drafts, and what it lets go. */
  function command(
    refs: readonly string[],
    reason: string,
    change: () => void,
  ): Promise<HeldOutcomes | FailedOutcome> {
    return enqueue(path.sizeOfDecision(refs.length, reason), () => {
      change()
      releaseAll(settings)
      return { ok: true, drafts: refs.map((ref) => outcomeOf(settings, ref)) }
    })
  }

  function sizeOf(verdict: Settlement): number {
    const named = askedAbout(readable(), verdict.tx).length
    return path.sizeOfVerdict(named, 'reason' in verdict ? verdict.reason : verdict.place)
  }

  return {
    settle(verdicts, chain) {
      const size = verdicts.reduce((sum, verdict) => sum + sizeOf(verdict), 0)
      return enqueue(size, () => settle(settings, verdicts, chain))
    },
    release: (refs) => command(refs, '', () => settings.release.touch('all')),
    vouch: (refs, reason) => command(refs, reason, () => vouch(settings, refs, reason)),
    drop: (refs, reason) => command(refs, reason, () => drop(settings, refs, reason)),
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

/** Uses verdicts of the chain, and publishes what they let go. */
function settle(settings: HeldCommandSettings, settlements: readonly Settlement[], chain: string): Settled {
  const { held } = settings
  if (held.chain() === null) held.keepChain(chain)
  if (held.chain() !== chain) return { ok: true, published: 0, failed: 0, refused: 0 }
  const verdicts = new Map(settlements.map((verdict) => [verdict.tx, verdict]))
  const drafts = [...verdicts.keys()].flatMap((tx) => askedAbout(held, tx))
  let failed = 0
  for (const draft of drafts) {
    const verdict = verdicts.get(draft.draft.tx ?? '')
    if (verdict === undefined) continue
    if (verdict.is === 'failed') failed += 1
    settleOne(settings, draft, verdict)
  }
  const published = releaseAll(settings)
  const refused = drafts.filter(({ ref }) => held.find(ref)?.chain === 'final').length
  return { ok: true, published, failed, refused }
}

/** Puts the operator's decision in the place of the chain's verdict. */
function vouch(settings: HeldCommandSettings, refs: readonly string[], reason: string): void {
  for (const ref of refs) {
    const draft = settings.held.find(ref)
    if (draft === undefined || isReady(draft)) continue
    makeReady(settings, {
      ...draft,
      chain: 'vouched',
      vouch: reason,
      settledAt: settings.now(),
      reason: null,
    })
  }
}

function drop(settings: HeldCommandSettings, refs: readonly string[], reason: string): void {
  for (const ref of refs) {
    const draft = settings.held.find(ref)
    if (draft !== undefined) end(settings, draft, { state: 'dropped', place: draft.place, reason })
  }
}

/** Runs the release. Its events can change the treasury, on which other contests depend. */
function releaseAll({ release }: HeldCommandSettings): number {
  release.touch('dependent')
  return release.run()
}

/** Ends a draft that will never be published. */
function end(
  { held, expected, release, now }: HeldCommandSettings,
  draft: HeldDraft,
  { state, place, reason }: Pick<EndedDraft, 'state' | 'place' | 'reason'>,
): void {
  held.end(draft, { state, settledAt: now(), place, reason })
  expected.forget(draft.draft.contestId)
  release.touch(draft.draft.contestId)
}

/** Notes that a draft waits for no verdict of the chain any more. */
function makeReady({ held, release }: HeldCommandSettings, draft: HeldDraft): void {
  held.change(draft)
  release.touch(draft.draft.contestId)
}

/** Uses the chain's verdict on one draft. */
function settleOne(settings: HeldCommandSettings, draft: HeldDraft, verdict: Settlement): void {
  const { held, now } = settings
  switch (verdict.is) {
    case 'final':
      if (verdict.drafts?.includes(draft.id) === false) return
      return makeReady(settings, {
        ...draft,
        chain: 'final',
        place: verdict.place,
        settledAt: now(),
        reason: null,
      })
    case 'failed':
      return end(settings, draft, { state: 'failed', place: verdict.place, reason: verdict.reason })
    case 'excess':
      return verdict.reason === draft.reason ? undefined : held.change({ ...draft, reason: verdict.reason })
  }
}

function askedAbout(held: HeldDrafts, tx: string): readonly HeldDraft[] {
  return held.naming(tx).filter((draft) => draft.draft.tx === tx && !isReady(draft))
}

function outcomeOf({ held, appender }: HeldCommandSettings, ref: string): HeldOutcome {
  const draft = held.find(ref)
  if (draft !== undefined) return { ref, status: 'held', chain: draft.chain, reason: draft.reason }
  const event = appender.published(ref)
  if (event !== undefined) return { ref, status: 'published', seq: event.seq }
  const ended = held.ended(ref)
  if (ended !== undefined) return { ref, status: ended.state, reason: ended.reason }
  return { ref, status: 'unknown' }
}
