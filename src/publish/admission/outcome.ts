import type { DraftReceipt } from '../../protocol/draft.ts'
import type { ProblemCode } from '../../protocol/problem.ts'

/** Refusal of a whole request. Nothing of it was accepted. */
export type FailedOutcome = Readonly<{
  ok: false
  code: ProblemCode
  /** Place and field of the draft at fault; null when the whole request is. */
  index: number | null
  field: string | null
  reason: string
  /** Number of held drafts when the refusal may pass by itself; absent when it cannot. */
  held?: number
}>

/** Result of a request: a receipt for each draft, or one refusal for the whole request. */
export type Outcome = Readonly<{ ok: true; receipts: readonly DraftReceipt[] }> | FailedOutcome

/** A refusal that concerns no single draft. */
export function doorRefusal(code: FailedOutcome['code'], reason: string): FailedOutcome {
  return { ok: false, code, index: null, field: null, reason }
}
