import { isEventType } from '../../protocol/catalogue.ts'
import type { DaybookEvent } from '../../protocol/event.ts'
import type { EventType } from '../../protocol/rules.ts'

type TypeAndKind = Pick<DaybookEvent, 'type' | 'kind'>
type Trait = 'sets the price' | 'is listed as a payout'

/** Traits of each type that code outside the fold's own switches asks for. */
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

/** The type whose effect an event has: of a correction the corrected type, which is its kind. */
export function causeType({ type, kind }: TypeAndKind): EventType {
  return type === 'correction' && isEventType(kind) ? kind : type
}

/** Whether an event sets the token price, or takes one back. */
export function setsPrice(event: TypeAndKind): boolean {
  return TRAITS[causeType(event)].includes('sets the price')
}

/** Whether a contest lists an event among its payouts: a payout, or the correction of one. */
export function isListedPayout(event: TypeAndKind): boolean {
  return TRAITS[causeType(event)].includes('is listed as a payout')
}
