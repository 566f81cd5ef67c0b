import type { HeldDraft, SettledDraft } from '../../log/held/held-draft.ts'
import type { HeldTables } from '../../log/held/held-tables.ts'
import type { Ms } from '../../protocol/moment.ts'
import type { Seq } from '../../protocol/seq.ts'
import type { FailedOutcome } from '../admission/outcome.ts'
import type { EarlierCache } from './earlier-held.ts'
import { type HeldDrafts, isReady } from './held-drafts.ts'
import type { Release } from './release.ts'

/**
 * Word of the chain about a transaction, for all held drafts that name it. `excess`: their amounts exceed what the
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
 * The held drafts, for the gate and the operator. Each change is one transaction, which is on the disk when its promise
 * resolves. A failure changes nothing, and its code is `clock`, `store-full` or `store-unavailable`.
 */
export type HeldQueue = Readonly<{
  /** `chain` is the id of the blockchain that was asked. Another one than that of the log settles nothing. */
  settle(settlements: readonly Settlement[], chain: string): Promise<Settled | FailedOutcome>
  /** Asks the books again for all drafts that wait for no word of the chain. */
  release(refs: readonly string[]): Promise<HeldOutcomes | FailedOutcome>
  /** Puts the operator's word in the place of the chain's. */
  vouch(refs: readonly string[], reason: string): Promise<HeldOutcomes | FailedOutcome>
  /** Gives held drafts up. */
  drop(refs: readonly string[], reason: string): Promise<HeldOutcomes | FailedOutcome>
  /**
   * Settles when the held drafts can be read: no commit is being made. The reader must read at once, because the next
   * commit may begin a few promises later. Rejects when the signal is aborted while a commit is open.
   */
  quiet(signal?: AbortSignal): Promise<void>
  /** Drafts that wait for the word of the chain, in order of acceptance. */
  asked(): readonly HeldDraft[]
  /** Those of them whose transaction is written so. */
  askedAbout(tx: string): readonly HeldDraft[]
  /** Held drafts that name a transaction, in either case of hex digits, in order of acceptance. */
  naming(tx: string): readonly HeldDraft[]
  /** Held drafts after the id `after` that pass the filter, in order of acceptance. */
  list(after: number, limit: number, passes?: (draft: HeldDraft) => boolean): readonly HeldDraft[]
  /** Failed or dropped drafts after the id `after`, in order of acceptance. */
  listSettled(state: SettledDraft['state'], after: number, limit: number): readonly SettledDraft[]
}>

type ChangeSettings = Readonly<{
  held: HeldDrafts
  earlier: EarlierCache
  release: Release
  published(ref: string): Readonly<{ seq: Seq }> | undefined
  now(): Ms
}>

/** The changes of the queue, as they run in a transaction that the caller has begun. */
type HeldChanges = Readonly<{
  settle(settlements: readonly Settlement[], chain: string): Settled
  release(refs: readonly string[]): HeldOutcomes
  vouch(refs: readonly string[], reason: string): HeldOutcomes
  drop(refs: readonly string[], reason: string): HeldOutcomes
}>

export function openHeldChanges(settings: ChangeSettings): HeldChanges {
  const { held, release, now } = settings

  /** Runs the release. What it publishes can change the treasury, which other contests ask for. */
  function runRelease(): number {
    release.touchDependent()
    return release.run()
  }

  const outcomes = (refs: readonly string[]): HeldOutcomes => ({
    ok: true,
    drafts: refs.map((ref) => outcomeOf(settings, ref)),
  })

  return {
    settle(settlements, chain) {
      if (held.chain() === null) held.keepChain(chain)
      if (held.chain() !== chain) return { ok: true, published: 0, failed: 0, refused: 0 }
      const words = new Map(settlements.map((word) => [word.tx, word]))
      const drafts = [...words.keys()].flatMap((tx) => askedAbout(held, tx))
      for (const draft of drafts) {
        const word = words.get(draft.draft.tx ?? '')
        if (word !== undefined) settleOne(settings, draft, word)
      }
      const published = runRelease()
      const is = (draft: HeldDraft): Settlement['is'] | undefined => words.get(draft.draft.tx ?? '')?.is
      const failed = drafts.filter((draft) => is(draft) === 'failed').length
      const refused = drafts.filter(({ ref }) => held.find(ref)?.chain === 'final')
      return { ok: true, published, failed, refused: refused.length }
    },
    release(refs) {
      release.touchAll()
      release.run()
      return outcomes(refs)
    },
    vouch(refs, reason) {
      for (const ref of refs) {
        const draft = held.find(ref)
        if (draft === undefined || isReady(draft)) continue
        makeReady(settings, { ...draft, chain: 'vouched', vouch: reason, settledAt: now(), reason: null })
      }
      runRelease()
      return outcomes(refs)
    },
    drop(refs, reason) {
      for (const ref of refs) {
        const draft = held.find(ref)
        if (draft !== undefined) end(settings, draft, { state: 'dropped', place: draft.place, reason })
      }
      runRelease()
      return outcomes(refs)
    },
  }
}

/** Ends a draft that will never be published. */
function end(
  { held, earlier, release, now }: ChangeSettings,
  draft: HeldDraft,
  { state, place, reason }: Pick<SettledDraft, 'state' | 'place' | 'reason'>,
): void {
  held.settle(draft, { state, settledAt: now(), place, reason })
  earlier.forget(draft.draft.contestId)
  release.touch(draft.draft.contestId)
}

/** Notes that a draft waits for no word of the chain any more. */
function makeReady({ held, release }: ChangeSettings, draft: HeldDraft): void {
  held.change(draft)
  release.touch(draft.draft.contestId)
}

/** Uses the word of the chain about one draft. */
function settleOne(settings: ChangeSettings, draft: HeldDraft, word: Settlement): void {
  const { held, now } = settings
  switch (word.is) {
    case 'final':
      if (word.drafts?.includes(draft.id) === false) return
      return makeReady(settings, {
        ...draft,
        chain: 'final',
        place: word.place,
        settledAt: now(),
        reason: null,
      })
    case 'failed':
      return end(settings, draft, { state: 'failed', place: word.place, reason: word.reason })
    case 'excess':
      return word.reason === draft.reason ? undefined : held.change({ ...draft, reason: word.reason })
  }
}

/**
 * Lists that are read without a transaction: memory, and the table of settled drafts. `begin` is called before each
 * reading.
 */
export function openHeldLists(
  held: HeldDrafts,
  tables: HeldTables,
  begin: () => void,
): Pick<HeldQueue, 'asked' | 'askedAbout' | 'naming' | 'list' | 'listSettled'> {
  const reading =
    <Args extends readonly unknown[], Found>(read: (...args: Args) => Found) =>
    (...args: Args): Found => {
      begin()
      return read(...args)
    }
  return {
    asked: reading(() => [...held.all()].filter((draft) => !isReady(draft))),
    askedAbout: reading((tx: string) => askedAbout(held, tx)),
    naming: reading(held.naming),
    list: reading((after: number, limit: number, passes: (draft: HeldDraft) => boolean = () => true) => {
      const page: HeldDraft[] = []
      for (const draft of held.all()) {
        if (page.length >= limit) break
        if (draft.id > after && passes(draft)) page.push(draft)
      }
      return page
    }),
    listSettled: reading(tables.settledAfter),
  }
}

function askedAbout(held: HeldDrafts, tx: string): readonly HeldDraft[] {
  return held.naming(tx).filter((draft) => draft.draft.tx === tx && !isReady(draft))
}

function outcomeOf({ held, published }: ChangeSettings, ref: string): HeldOutcome {
  const draft = held.find(ref)
  if (draft !== undefined) return { ref, status: 'held', chain: draft.chain, reason: draft.reason }
  const event = published(ref)
  if (event !== undefined) return { ref, status: 'published', seq: event.seq }
  const settled = held.settled(ref)
  if (settled !== undefined) return { ref, status: settled.state, reason: settled.reason }
  return { ref, status: 'unknown' }
}
