import { moveContest } from '../project/fold/contest-state.ts'
import {
  contestOf,
  correctionOf,
  entryOf,
  type Fold,
  loyaltyOf,
  openFold,
  prizeKindsOf,
  restatementOf,
} from '../project/fold/fold.ts'
import { effectOf, post, postingOf, postToContest } from '../project/fold/ledger.ts'
import { emptyTally, type Tally } from '../project/fold/tally.ts'
import type { Draft } from '../protocol/draft.ts'
import { msOf } from '../protocol/moment.ts'
import { type HeldBefore, ruleOf } from '../protocol/rules.ts'
import { BEFORE_FIRST } from '../protocol/seq.ts'
import { type BalancesSetting, type BooksRefusal, judgeDraft } from './admission/admission.ts'
import type { HeldDrafts, HeldGroup } from './held-drafts.ts'

/**
 * Decision of the books on a draft, apart from its transaction: publish it, let it wait for held drafts of its contest,
 * or refuse it. `irregular` is the rule that a published draft breaks under `--balances report`. `expected` is the
 * refusal by the expected books, when earlier drafts of its contest are held.
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
  const anyHeld = expectedBooks.anyHeld('all')
  const expected = anyHeld ? expectedBooks.refusalOf(draft) : null
  if (anyHeld && expected === null) return { is: 'wait' }
  const { refusal, irregular } = judgeDraft(books, draft, balances)
  if (refusal !== null) return { is: 'refuse', refusal, expected }
  return waits ? { is: 'wait' } : { is: 'publish', irregular }
}

/**
 * Whether a draft waits for earlier held drafts even when the books accept it. A payment that becomes final must find
 * its balance, a play must find its contest running, and a prize that follows the close is published after it.
 */
export function waitsForHeld(draft: Draft, before: Pick<ExpectedBooks, 'anyHeld'>): boolean {
  const waitsFor = ruleOf(draft.type, draft.kind)?.waitsFor
  return waitsFor !== undefined && before.anyHeld(waitsFor)
}

/** Names of a held draft, for the drafts that wait for it. */
export function heldAs({ type, kind }: Draft): readonly HeldBefore[] {
  if (type === 'play') return ['all', 'plays']
  return type === 'contest' && (kind === 'closed' || kind === 'cancelled') ? ['all', 'close'] : ['all']
}

/**
 * Expected books of a contest: the published books plus its earlier held drafts, in order of acceptance. They grow
 * draft by draft, so that a request of many dependent drafts takes linear time.
 */
export type ExpectedBooks = Readonly<{
  /** Whether any of these drafts is held before it. */
  anyHeld(of: HeldBefore): boolean
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
  refusalOf: () => null,
  addHeld: () => undefined,
  addPublished: () => undefined,
}

/**
 * Opens the expected books of a contest. `published` returns the current published books, `before` the earlier held
 * drafts. Folds nothing until the first `refusalOf`.
 */
export function openExpectedBooks(
  published: () => Fold,
  before: () => Iterable<Readonly<{ draft: Draft }>>,
): ExpectedBooks {
  let fold: Fold | undefined
  let known: Set<HeldBefore> | undefined

  function open(): Fold {
    // Other contests and the log are read from the published books, so only the contest's own state can be outdated.
    const opened = openFold(emptyTally(), {
      ...published().repository,
      entry: (seq) => entryOf(published(), seq),
      correctionOf: (seq) => correctionOf(published(), seq),
      restatementOf: (seq) => restatementOf(published(), seq),
      contest: (id) => contestOf(published(), id),
      loyalty: (month) => loyaltyOf(published(), month),
      prizeKinds: () => prizeKindsOf(published()),
    })
    for (const { draft } of before()) applyHeld(opened, opened.tally, draft)
    return opened
  }

  return {
    anyHeld(of) {
      known ??= new Set(Iterator.from(before()).flatMap(({ draft }) => heldAs(draft)))
      return known.has(of)
    },
    refusalOf(draft) {
      fold ??= open()
      // The contest's drafts move and read no other account of the tally than the treasury.
      const { tally } = published()
      const treasury = tally.figures.treasury + fold.tally.figures.treasury
      const expected = { ...fold, tally: { ...tally, figures: { ...tally.figures, treasury } } }
      return judgeDraft(expected, draft, 'refuse').refusal
    },
    addHeld(draft) {
      for (const each of heldAs(draft)) known?.add(each)
      if (fold !== undefined) applyHeld(fold, fold.tally, draft)
    },
    addPublished(draft) {
      // Amounts can be added in any order. Status changes of a contest cannot, so its books are opened again.
      if (draft.type === 'contest') fold = undefined
      // The published tally has the amounts already.
      else if (fold !== undefined) applyHeld(fold, emptyTally(), draft)
    },
  }
}

/** Applies the state that `judgeDraft` reads: accounts, the contest's state and sums, corrections and restatements. */
function applyHeld(fold: Fold, tally: Tally, { type, kind, contestId, kots, tx, details }: Draft): void {
  // Its seq and moment are unknown, and no check reads them.
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

/** Most contests whose expected books are cached. Beyond it the whole cache is cleared. */
const CONTESTS_CACHED_MAX = 1_000

/** Expected books of all contests, for a new draft. */
export type ExpectedCache = Readonly<{
  of(group: HeldGroup): ExpectedBooks
  /** Must be called when drafts of the group are no longer held, or when a request was undone. */
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
