import { type EventType, isEventType, type RuledType, ruleKind } from '../../../protocol/rules.ts'
import { type Html, html } from '../../markup/html.ts'
import { capitalized } from '../../markup/prose.ts'
import { kindName, onePaid, plainKind, whoWins } from '../../markup/kind-words.ts'

/** Names of types of events as a list of several. */
const TYPES: Readonly<Record<EventType, string>> = {
  contest: 'Steps of contests',
  play: 'Play',
  pool: 'Changes of pools',
  prize: 'Prizes won',
  hold: 'Reviews',
  payout: 'Payments',
  expiry: 'Expired prizes',
  burn: 'Burns',
  loyalty: 'Steps of the loyalty reward',
  treasury: 'Changes of the treasury',
  price: 'Prices',
  trade: 'Trades',
  correction: 'Corrections',
}

type Name = (kind: string) => Html

/** Names of events by type and kind; `*` is for the kinds that the operator names. */
const NAMES: Readonly<Record<RuledType, Readonly<Partial<Record<string, Name>>>>> = {
  contest: {
    scheduled: () => html`Contest planned`,
    rescheduled: () => html`Contest moved`,
    opened: () => html`Contest opened`,
    closed: () => html`Contest closed`,
    paid: () => html`Contest settled`,
    cancelled: () => html`Contest cancelled`,
  },
  play: { '*': (kind) => kindName(kind) },
  pool: {
    sponsor: () => html`A sponsor’s money for a pool`,
    returned: () => html`Rest of a pool returned`,
    '*': () => html`Money for a pool`,
  },
  prize: { '*': (kind) => html`Prizes of ${whoWins(kind)}` },
  hold: { '*': (kind) => html`Another review for ${whoWins(kind)}` },
  payout: {
    refund: () => html`Refund to players`,
    loyalty: () => html`Loyalty reward paid`,
    '*': (kind) => html`Payment to ${onePaid(kind)}`,
  },
  expiry: { '*': (kind) => html`Expired prizes of ${whoWins(kind)}` },
  burn: { '*': () => html`Burn` },
  loyalty: {
    accrual: () => html`Set aside for the loyalty reward`,
    scheduled: () => html`Loyalty reward planned`,
    input: () => html`Input of the loyalty reward fixed`,
    output: () => html`Result of the loyalty reward fixed`,
  },
  treasury: {
    deposit: () => html`Deposit to the treasury`,
    withdrawal: () => html`Withdrawal from the treasury`,
  },
  price: { usd: () => html`Price of the token` },
  trade: { buy: () => html`Bought on the market`, sell: () => html`Sold on the market` },
}

/** Name of an event in words: `Payment to a voter`. An event that this version does not know has its type. */
export function eventName(type: string, kind: string): Html {
  if (type === 'correction') return html`Correction (${plainKind(kind)})`
  const named =
    isEventType(type) && type !== 'correction' ? NAMES[type][ruleKind(type, kind) ?? ''] : undefined
  return named?.(kind) ?? html`Event (${plainKind(type)})`
}

/** Names of types of events in the plural: `Payments, prizes won`. */
export function typeNames(types: readonly string[]): string {
  const names = types.map((type) => (isEventType(type) ? TYPES[type] : type))
  return capitalized(names.join(', ').toLowerCase())
}
