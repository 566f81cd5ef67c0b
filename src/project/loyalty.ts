import type { Amount } from '../protocol/amount.ts'
import { add, ZERO } from '../protocol/amount.ts'
import type { Month, Ms } from '../protocol/moment.ts'
import type { Seq } from '../protocol/seq.ts'
import type { Effect } from './ledger.ts'

/** One published half of a loyalty run: what went in, or what came out. */
export type LoyaltyHalf = Readonly<{
  seq: Seq
  atMs: Ms
  digest: string
  bytes: number | null
  url: string | null
}>

/** The loyalty reward of one month as of the head; what a correction cancelled is gone from it. */
export type LoyaltyState = Readonly<{
  month: Month
  scheduled: Readonly<{ seq: Seq; paysAt: Ms }> | null
  input: LoyaltyHalf | null
  output: (LoyaltyHalf & Readonly<{ recipients: number; total: Amount }>) | null
  paid: Amount
  payouts: number
}>

export function emptyLoyalty(month: Month): LoyaltyState {
  return { month, scheduled: null, input: null, output: null, paid: ZERO, payouts: 0 }
}

/** Applies an event of a month's loyalty reward, or the correction of one. */
export function applyToLoyalty(before: LoyaltyState | undefined, month: Month, effect: Effect): LoyaltyState {
  const state = before ?? emptyLoyalty(month)
  const { event, details } = effect.cause
  const amount = effect.entry.event.kots
  if (event.type === 'payout') {
    return { ...state, paid: add(state.paid, amount ?? ZERO), payouts: state.payouts + effect.sign }
  }
  if (event.type !== 'loyalty' || details === null) return state
  if (effect.sign === -1) return without(state, event.seq)
  const half = {
    seq: event.seq,
    atMs: event.atMs,
    digest: details.digest ?? '',
    bytes: details.bytes ?? null,
    url: details.url ?? null,
  }
  switch (event.kind) {
    case 'scheduled':
      return details.paysAt === undefined
        ? state
        : { ...state, scheduled: { seq: event.seq, paysAt: details.paysAt } }
    case 'input':
      return { ...state, input: half }
    case 'output':
      return { ...state, output: { ...half, recipients: details.recipients ?? 0, total: amount ?? ZERO } }
    default:
      return state
  }
}

/** What a corrected event said is gone, unless a later one has taken its place. */
function without(state: LoyaltyState, seq: Seq): LoyaltyState {
  return {
    ...state,
    scheduled: state.scheduled?.seq === seq ? null : state.scheduled,
    input: state.input?.seq === seq ? null : state.input,
    output: state.output?.seq === seq ? null : state.output,
  }
}
