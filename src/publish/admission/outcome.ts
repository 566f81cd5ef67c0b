import { findsAddress } from '../../protocol/address-guard.ts'
import type { DraftReceipt } from '../../protocol/draft.ts'
import type { ProblemCode } from '../../protocol/problem.ts'

/** Most bad drafts that a refusal names. */
export const FAULTS_MAX = 20

/** The fault of one draft of a request. */
export type DraftFault = Readonly<{
  code: ProblemCode
  /** Index of the draft in its request, from 0. */
  index: number
  /** Its line, from 1, when the request has lines. */
  line?: number | undefined
  /** Its ref; null when it has none that a refusal may repeat. */
  ref: string | null
  field: string
  reason: string
}>

/** Refusal of a whole request, of which nothing was accepted. */
export type FailedOutcome = Readonly<{
  ok: false
  code: ProblemCode
  /** Field at fault; null when the whole request is. */
  field: string | null
  reason: string
  /**
   * Bad drafts in their order, at most `FAULTS_MAX`; absent when no single draft is at fault. Code and field are those
   * of the first.
   */
  faults?: readonly DraftFault[]
  /** Number of held drafts when a later attempt may succeed; absent when it cannot. */
  held?: number
}>

/** Result of a request: a receipt for each draft, or one refusal for the whole request. */
export type Outcome = Readonly<{ ok: true; receipts: readonly DraftReceipt[] }> | FailedOutcome

/** A refusal that concerns no single draft. */
export function requestRefusal(code: FailedOutcome['code'], reason: string): FailedOutcome {
  return { ok: false, code, field: null, reason }
}

/** Refusal for bad drafts, in their order; undefined for none. */
export function faultsRefusal(faults: readonly DraftFault[]): FailedOutcome | undefined {
  const [first] = faults
  if (first === undefined) return undefined
  const { code, field, reason } = first
  return { ok: false, code, field, reason, faults }
}

/** Ref of a bad draft for its refusal; null when it looks like a wallet address. */
export function shownRef(ref: string): string | null {
  return findsAddress(ref, 'prose') ? null : ref
}
