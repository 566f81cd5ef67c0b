import type { DaybookEvent } from '../../protocol/event.ts'
import { type EventType, isEventType } from '../../protocol/rules.ts'

type TypeAndKind = Pick<DaybookEvent, 'type' | 'kind'>
type Trait = 'sets the price' | 'is listed as a payout'

/** Traits of each event type, for code outside the fold. */
const TRAITS: Readonly<Record<EventType, readonly Trait[]>> = {
  contest: [],
  play: [],
  pool: [],
  prize: [],
  hold: [],
  payout: ['is listed as a payout'],
  expiry: [],
  burn: [],
  loyalty: [],
  treasury: [],
  price: ['sets the price'],
  trade: [],
  correction: [],
}

/** Type whose effect an event has; for a correction the corrected type, which is its kind. */
export function causeType({ type, kind }: TypeAndKind): EventType {
  return type === 'correction' && isEventType(kind) ? kind : type
}

/** Whether an event sets or cancels a token price. */
export function setsPrice(event: TypeAndKind): boolean {
  return TRAITS[causeType(event)].includes('sets the price')
}

/** Whether a contest lists an event among its payouts: a payout, or the correction of one. */
export function isListedPayout(event: TypeAndKind): boolean {
  return TRAITS[causeType(event)].includes('is listed as a payout')
}
