import { moveContest } from '../../project/fold/contest-state.ts'
import {
  contestOf,
  correctionOf,
  entryOf,
  type Fold,
  loyaltyOf,
  openFold,
  restatementOf,
} from '../../project/fold/fold.ts'
import { effectOf, post, postingOf, postToContest } from '../../project/fold/ledger.ts'
import { emptyTally, type Tally } from '../../project/fold/tally.ts'
import type { Draft } from '../../protocol/draft.ts'
import type { Entry } from '../../protocol/event.ts'
import { msOf } from '../../protocol/moment.ts'
import { BEFORE_FIRST } from '../../protocol/seq.ts'
import { type BooksRefusal, judgeDraft } from '../admission/admission.ts'

/**
 * The published books with the held drafts of one contest applied in order of acceptance. They grow draft by draft, so
 * that a request of many dependants costs what it is long.
 */
export type ExpectedBooks = Readonly<{
  /** Applies a held draft. */
  hold(draft: Draft): void
  /** Applies a draft that was published after these books were opened. The published books have it already. */
  publish(draft: Draft): void
  /** Reason why these books refuse a draft; null when they accept it. */
  refusalOf(draft: Draft): BooksRefusal | null
}>

/** Opens expected books without any held draft. `published` gives the published books of the moment. */
export function openExpectedBooks(published: () => Fold): ExpectedBooks {
  // Other contests and the log are read from the published books, so only the contest's own state can be outdated.
  const fold = openFold(emptyTally(), {
    ...published().shelf,
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

/** Of all accounts of the tally, a contest's drafts only move and ask for the treasury. */
function expectedTally(published: Tally, moved: Tally): Tally {
  const treasury = published.figures.treasury + moved.figures.treasury
  return { ...published, figures: { ...published.figures, treasury } }
}
