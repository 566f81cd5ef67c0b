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
import { msOf } from '../protocol/moment.ts'
import { ruleOf } from '../protocol/rules.ts'
import { BEFORE_FIRST } from '../protocol/seq.ts'
import { type BalancesSetting, type BooksRefusal, judgeDraft } from './admission/admission.ts'
import type { HeldDrafts, HeldGroup } from './held-drafts.ts'

/**
 * Decision of the books on a draft, apart from its transaction: publish it (`irregular` is the rule that it breaks
 * under `--balances report`), let it wait for held drafts of its contest, or refuse it.
 * `expected` is the refusal by the expected books, when drafts of its contest are held before it.
 */
type DraftDecision =
  | Readonly<{ is: 'publish'; irregular: BooksRefusal | null }>
  | Readonly<{ is: 'wait' }>
  | Readonly<{ is: 'refuse'; refusal: BooksRefusal; expected: BooksRefusal | null }>

/** Decides on a draft, at its acceptance and again at each release (docs/decisions/0050-held-drafts.md). */
export function decide(
  books: Fold,
  draft: Draft,
  expectedBooks: ExpectedBooks,
  balances: BalancesSetting,
): DraftDecision {
  const now = judgeDraft(books, draft, 'refuse').refusal
  const waits = waitsForHeld(draft, expectedBooks)
  if (now === null) return waits ? { is: 'wait' } : { is: 'publish', irregular: null }
  const anyHeld = expectedBooks.anyHeld()
  const expected = anyHeld ? expectedBooks.refusalOf(draft) : null
  if (anyHeld && expected === null) return { is: 'wait' }
  const { refusal, irregular } = judgeDraft(books, draft, balances)
  if (refusal !== null) return { is: 'refuse', refusal, expected }
  return waits ? { is: 'wait' } : { is: 'publish', irregular }
}

/**
 * Whether a draft waits for held drafts before it even when the books accept it, because a payment that becomes final must
 * find its balance, and a play a running contest.
 */
export function waitsForHeld(draft: Draft, before: Pick<ExpectedBooks, 'anyHeld' | 'anyPlay'>): boolean {
  const waitsFor = ruleOf(draft.type, draft.kind)?.waitsFor
  if (waitsFor === undefined) return false
  return waitsFor === 'held' ? before.anyHeld() : before.anyPlay()
}

/**
 * The expected books of a contest: the published books with the drafts of the contest that are held before another one,
 * in order of acceptance. They grow draft by draft, so that a request of many dependants costs what it is long.
 */
export type ExpectedBooks = Readonly<{
  /** Whether any draft is held before, and whether a play is. */
  anyHeld(): boolean
  anyPlay(): boolean
  /** Reason why these books refuse a draft; null when they accept it. */
  refusalOf(draft: Draft): BooksRefusal | null
  /** Applies a further held draft. */
  addHeld(draft: Draft): void
  /** Applies a draft that was published after these books were opened. */
  addPublished(draft: Draft): void
}>

/** Expected books of a draft with no held drafts before it. */
export const NOTHING_HELD: ExpectedBooks = {
  anyHeld: () => false,
  anyPlay: () => false,
  refusalOf: () => null,
  addHeld: () => undefined,
  addPublished: () => undefined,
}

/**
 * Opens the expected books of a contest. `published` gives the published books of the moment, `before` the drafts that are
 * held. No fold is made before `refusalOf` is first called.
 */
export function openExpectedBooks(
  published: () => Fold,
  before: () => Iterable<Readonly<{ draft: Draft }>>,
): ExpectedBooks {
  let fold: Fold | undefined

  function open(): Fold {
    // Other contests and the log are read from the published books, so only the contest's own state can be outdated.
    const opened = openFold(emptyTally(), {
      ...published().repository,
      entry: (seq) => entryOf(published(), seq),
      correctionOf: (seq) => correctionOf(published(), seq),
      restatementOf: (seq) => restatementOf(published(), seq),
      contest: (id) => contestOf(published(), id),
      loyalty: (month) => loyaltyOf(published(), month),
    })
    for (const { draft } of before()) applyHeld(opened, opened.tally, draft)
    return opened
  }

  return {
    anyHeld() {
      for (const _held of before()) return true
      return false
    },
    anyPlay() {
      for (const { draft } of before()) if (draft.type === 'play') return true
      return false
    },
    refusalOf(draft) {
      fold ??= open()
      // The treasury is the only account of the tally that a contest's drafts move and ask for.
      const { tally } = published()
      const treasury = tally.figures.treasury + fold.tally.figures.treasury
      const expected = { ...fold, tally: { ...tally, figures: { ...tally.figures, treasury } } }
      return judgeDraft(expected, draft, 'refuse').refusal
    },
    addHeld(draft) {
      if (fold !== undefined) applyHeld(fold, fold.tally, draft)
    },
    addPublished(draft) {
      // Amounts add up in any order. Moves of a contest do not, so its books are opened again.
      if (draft.type === 'contest') fold = undefined
      // The published tally has the amounts already.
      else if (fold !== undefined) applyHeld(fold, emptyTally(), draft)
    },
  }
}

/** Applies what `judgeDraft` asks for: accounts, the contest's state and sums, corrections and restatements. */
function applyHeld(fold: Fold, tally: Tally, { type, kind, contestId, kots, tx, details }: Draft): void {
  // Its seq and moment are not known, and no check asks for them.
  const event = { seq: BEFORE_FIRST, type, kind, atMs: msOf(0), contestId, kots, tx }
  const { corrects, restates } = details ?? {}
  const corrected = corrects === undefined ? undefined : entryOf(fold, corrects)
  const effect = effectOf({ event, details }, corrected)
  const posting = postingOf(effect)
  if (posting !== undefined) post(tally, posting)
  if (corrects !== undefined) fold.changes.corrections.set(corrects, event.seq)
  if (restates !== undefined) fold.changes.restatements.set(restates, event.seq)
  if (contestId === null) return
  const moved = moveContest(contestOf(fold, contestId), effect)
  fold.changes.contests.set(contestId, postToContest(moved, effect))
}

/** Contests whose expected books are in memory at most; beyond that all are forgotten. */
const CONTESTS_CACHED_MAX = 1_000

/** Expected books of all contests, as a new draft finds them. */
export type ExpectedCache = Readonly<{
  of(group: HeldGroup): ExpectedBooks
  /** Must be called when drafts of the group are held no more, or when a request was forgotten. */
  forget(group: HeldGroup): void
  clear(): void
}>

/** Opens the cache of expected books. A draft of a contest without held drafts costs one look-up. */
export function openExpectedCache(published: () => Fold, held: HeldDrafts): ExpectedCache {
  const cache = new Map<HeldGroup, ExpectedBooks>()
  return {
    of(group) {
      if (group === null || !held.groups().has(group)) return NOTHING_HELD
      const known = cache.get(group)
      if (known !== undefined) return known
      if (cache.size >= CONTESTS_CACHED_MAX) cache.clear()
      const opened = openExpectedBooks(published, () => held.groups().get(group)?.drafts.values() ?? [])
      cache.set(group, opened)
      return opened
    },
    forget: (group) => void cache.delete(group),
    clear: () => cache.clear(),
  }
}
