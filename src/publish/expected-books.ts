import { moveContest } from '../project/fold/contest-state.ts'
import {
  contestOf,
  correctionOf,
  entryOf,
  type Fold,
  loyaltyOf,
  openFold,
  restatementOf,
} from '../project/fold/fold.ts'
import { effectOf, post, postingOf, postToContest } from '../project/fold/ledger.ts'
import { emptyTally, type Tally } from '../project/fold/tally.ts'
import type { Draft } from '../protocol/draft.ts'
import type { Entry } from '../protocol/event.ts'
import { msOf } from '../protocol/moment.ts'
import { BEFORE_FIRST } from '../protocol/seq.ts'
import { type BooksRefusal, judgeDraft } from './admission/admission.ts'
import type { HeldDraft } from '../log/held/held-draft.ts'
import { type EarlierHeld, NONE_EARLIER } from './decide.ts'
import type { HeldDrafts, HeldGroup } from './held-drafts.ts'

/**
 * The published books with the held drafts of one contest applied in order of acceptance. They grow draft by draft, so
 * that a request of many dependants costs what it is long.
 */
type ExpectedBooks = Readonly<{
  /** Applies a held draft. */
  hold(draft: Draft): void
  /** Applies a draft that was published after these books were opened. The published books have it already. */
  publish(draft: Draft): void
  /** Reason why these books refuse a draft; null when they accept it. */
  refusalOf(draft: Draft): BooksRefusal | null
}>

/** Opens expected books without any held draft. `published` gives the published books of the moment. */
function openExpectedBooks(published: () => Fold): ExpectedBooks {
  // Other contests and the log are read from the published books, so only the contest's own state can be outdated.
  const fold = openFold(emptyTally(), {
    ...published().repository,
    entry: (seq) => entryOf(published(), seq),
    correctionOf: (seq) => correctionOf(published(), seq),
    restatementOf: (seq) => restatementOf(published(), seq),
    contest: (id) => contestOf(published(), id),
    loyalty: (month) => loyaltyOf(published(), month),
  })
  return {
    hold: (draft) => applyHeld(fold, fold.tally, draft),
    publish: (draft) => applyHeld(fold, emptyTally(), draft),
    refusalOf: (draft) =>
      judgeDraft({ ...fold, tally: expectedTally(published().tally, fold.tally) }, draft, 'refuse').refusal,
  }
}

/** Applies what `judgeDraft` asks for: accounts, the contest's state and sums, corrections and restatements. */
function applyHeld(fold: Fold, tally: Tally, draft: Draft): void {
  const entry = entryOfDraft(draft)
  const { corrects, restates } = draft.details ?? {}
  const corrected = corrects === undefined ? undefined : entryOf(fold, corrects)
  const effect = effectOf(entry, corrected)
  const posting = postingOf(effect)
  if (posting !== undefined) post(tally, posting)
  if (corrects !== undefined) fold.changes.corrections.set(corrects, entry.event.seq)
  if (restates !== undefined) fold.changes.restatements.set(restates, entry.event.seq)
  if (draft.contestId === null) return
  const moved = moveContest(contestOf(fold, draft.contestId), effect)
  fold.changes.contests.set(draft.contestId, postToContest(moved, effect))
}

/** The entry of a held draft. Its seq and moment are not known, and no check asks for them. */
function entryOfDraft({ type, kind, contestId, kots, tx, details }: Draft): Entry {
  return { event: { seq: BEFORE_FIRST, type, kind, atMs: msOf(0), contestId, kots, tx }, details }
}

/** The treasury is the only account of the tally that a contest's drafts move and ask for. */
function expectedTally(published: Tally, moved: Tally): Tally {
  const treasury = published.figures.treasury + moved.figures.treasury
  return { ...published, figures: { ...published.figures, treasury } }
}

/** Earlier held drafts of one contest, to which more are added as the caller goes on. */
type GrowingEarlier = EarlierHeld &
  Readonly<{
    hold(draft: Draft): void
    publish(draft: Draft): void
  }>

/** Opens the expected books of `before` when they are first asked for. `hold` and `publish` keep them up to date. */
export function openEarlier(published: () => Fold, before: () => Iterable<HeldDraft>): GrowingEarlier {
  let books: ExpectedBooks | undefined
  const open = (): ExpectedBooks => {
    const opened = openExpectedBooks(published)
    for (const { draft } of before()) opened.hold(draft)
    return opened
  }
  return {
    any() {
      for (const _held of before()) return true
      return false
    },
    anyPlay() {
      for (const { draft } of before()) if (draft.type === 'play') return true
      return false
    },
    refusalOf: (draft) => (books ??= open()).refusalOf(draft),
    hold: (draft) => books?.hold(draft),
    publish(draft) {
      // Amounts add up in any order. Moves of a contest do not, so its books are opened again.
      if (draft.type === 'contest') books = undefined
      else books?.publish(draft)
    },
  }
}

/** Contests whose expected books are in memory at most; beyond that all are forgotten. */
const CONTESTS_CACHED_MAX = 1_000

/** Held drafts as each new draft finds them. */
export type EarlierCache = Readonly<{
  of(group: HeldGroup): EarlierHeld
  hold(draft: Draft): void
  publish(draft: Draft): void
  /** Must be called when drafts of the group are held no more, or when a request was dropped. */
  forget(group: HeldGroup): void
  clear(): void
}>

/** Opens the cache of expected books for new drafts. A draft of a contest without held drafts costs one look-up. */
export function openEarlierCache(published: () => Fold, held: HeldDrafts): EarlierCache {
  const cache = new Map<HeldGroup, GrowingEarlier>()
  return {
    of(group) {
      if (group === null || !held.has(group)) return NONE_EARLIER
      const known = cache.get(group)
      if (known !== undefined) return known
      if (cache.size >= CONTESTS_CACHED_MAX) cache.clear()
      const opened = openEarlier(published, () => held.inGroup(group))
      cache.set(group, opened)
      return opened
    },
    hold: (draft) => cache.get(draft.contestId)?.hold(draft),
    publish: (draft) => cache.get(draft.contestId)?.publish(draft),
    forget: (group) => void cache.delete(group),
    clear: () => cache.clear(),
  }
}
