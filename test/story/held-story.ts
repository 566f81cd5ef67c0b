import type { HeldDraft, EndedDraft } from '../../src/log/held/held-draft.ts'
import type { Draft } from '../../src/protocol/draft.ts'
import { parseDraftAmount } from '../../src/protocol/amount.ts'
import type { Ms } from '../../src/protocol/moment.ts'
import { contestIdOf } from '../../src/protocol/seq.ts'

/** Words of held drafts that must never be public. */
export const PRIVATE = {
  ref: 'private-ref-of-a-payment',
  tx: 'private-transaction-0001',
  reason: 'private reason of the operator',
  place: 'private-slot-4711',
} as const

const draft: Draft = {
  ref: PRIVATE.ref,
  atMs: null,
  type: 'payout',
  kind: 'private_kind',
  contestId: contestIdOf(1),
  kots: parseDraftAmount('17.170017017') ?? null,
  tx: PRIVATE.tx,
  details: null,
}

/** A draft that waits for the chain. */
export function heldDraft(id: number, acceptedAt: Ms, more: Partial<HeldDraft> = {}): HeldDraft {
  const ref = `${PRIVATE.ref}-${id}`
  const waits = { chain: 'asked', place: null, settledAt: null, vouch: null, reason: null } as const
  return { id, ref, draft: { ...draft, ref }, acceptedAt, ...waits, ...more }
}

/** A draft that is never published. */
export function endedDraft(id: number, acceptedAt: Ms, state: EndedDraft['state']): EndedDraft {
  const ref = `${PRIVATE.ref}-${id}`
  const end = { state, settledAt: acceptedAt, place: PRIVATE.place, reason: PRIVATE.reason } as const
  return { id, ref, draft: { ...draft, ref }, acceptedAt, ...end }
}
