import type { Fold } from '../project/fold/fold.ts'
import type { Draft } from '../protocol/draft.ts'
import { ruleOf } from '../protocol/rules.ts'
import { type BalancesSetting, type BooksRefusal, judgeDraft } from './admission/admission.ts'

/** The held drafts of a draft's contest that were accepted before it. */
export type EarlierHeld = Readonly<{
  /** Whether there is any, and whether there is a play. */
  any(): boolean
  anyPlay(): boolean
  /** Reason why the expected books refuse the draft: the published books with these held drafts applied. */
  refusalOf(draft: Draft): BooksRefusal | null
}>

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
  earlier: EarlierHeld,
  balances: BalancesSetting,
): DraftDecision {
  const now = judgeDraft(books, draft, 'refuse').refusal
  const waits = waitsForEarlier(draft, earlier)
  if (now === null) return waits ? { is: 'wait' } : { is: 'publish', irregular: null }
  const expected = earlier.any() ? earlier.refusalOf(draft) : null
  if (earlier.any() && expected === null) return { is: 'wait' }
  const { refusal, irregular } = judgeDraft(books, draft, balances)
  if (refusal !== null) return { is: 'refuse', refusal, expected }
  return waits ? { is: 'wait' } : { is: 'publish', irregular }
}

/**
 * Whether a draft waits for earlier held drafts even when the books accept it, because a payment that becomes final must
 * find its balance, and a play a running contest.
 */
export function waitsForEarlier(draft: Draft, earlier: Pick<EarlierHeld, 'any' | 'anyPlay'>): boolean {
  const waitsFor = ruleOf(draft.type, draft.kind)?.waitsFor
  if (waitsFor === undefined) return false
  return waitsFor === 'held' ? earlier.any() : earlier.anyPlay()
}

/** Expected books of a draft without earlier held drafts. */
export const NONE_EARLIER: EarlierHeld = { any: () => false, anyPlay: () => false, refusalOf: () => null }
