import { add, type Amount, ZERO } from '../../protocol/amount.ts'
import type { Month, Ms } from '../../protocol/moment.ts'
import { ruleKind } from '../../protocol/rules.ts'
import type { Seq } from '../../protocol/seq.ts'
import type { Effect } from './ledger.ts'

/** The published input or output of a month's loyalty reward. */
export type LoyaltyHalf = Readonly<{
  seq: Seq
  atMs: Ms
  digest: string
  bytes: number | null
  url: string | null
}>

/** Output of a month's loyalty reward. */
export type LoyaltyOutput = LoyaltyHalf & Readonly<{ recipients: number; total: Amount }>

/**
 * State of one month's loyalty reward. The last uncancelled event of each kind applies. Earlier ones stay in the lists
 * and apply again when it is cancelled.
 */
export type LoyaltyState = Readonly<{
  month: Month
  plans: readonly Readonly<{ seq: Seq; paysAt: Ms }>[]
  inputs: readonly LoyaltyHalf[]
  outputs: readonly LoyaltyOutput[]
  paid: Amount
  payouts: number
}>

/** Planned payment of the month's reward, by the last plan. */
export function paysAtOf(state: LoyaltyState): Ms | null {
  return state.plans.at(-1)?.paysAt ?? null
}

function emptyLoyalty(month: Month): LoyaltyState {
  return { month, plans: [], inputs: [], outputs: [], paid: ZERO, payouts: 0 }
}

/** Applies an event that names a month of the loyalty reward, or its correction. */
export function applyToLoyalty(before: LoyaltyState | undefined, month: Month, effect: Effect): LoyaltyState {
  const state = before ?? emptyLoyalty(month)
  const { type } = effect.cause.event
  if (type === 'loyalty') return applyToRun(state, effect)
  if (type !== 'payout') return state
  const amount = effect.entry.event.kots ?? ZERO
  return { ...state, paid: add(state.paid, amount), payouts: state.payouts + effect.sign }
}

/** Applies a plan, an input or an output. */
function applyToRun(state: LoyaltyState, effect: Effect): LoyaltyState {
  const { event, details } = effect.cause
  if (details === null) return state
  if (effect.sign === -1) return without(state, event.seq)
  const half = {
    seq: event.seq,
    atMs: event.atMs,
    digest: details.digest ?? '',
    bytes: details.bytes ?? null,
    url: details.url ?? null,
  }
  switch (ruleKind('loyalty', event.kind)) {
    case 'scheduled':
      return details.paysAt === undefined
        ? state
        : { ...state, plans: [...state.plans, { seq: event.seq, paysAt: details.paysAt }] }
    case 'input':
      return { ...state, inputs: [...state.inputs, half] }
    case 'output': {
      const output = { ...half, recipients: details.recipients ?? 0, total: effect.entry.event.kots ?? ZERO }
      return { ...state, outputs: [...state.outputs, output] }
    }
    case 'accrual':
    case undefined:
      return state
  }
}

/** The state without a cancelled event. */
function without(state: LoyaltyState, seq: Seq): LoyaltyState {
  const isOther = (event: Readonly<{ seq: Seq }>): boolean => event.seq !== seq
  return {
    ...state,
    plans: state.plans.filter(isOther),
    inputs: state.inputs.filter(isOther),
    outputs: state.outputs.filter(isOther),
  }
}
