import { assert } from '../../../protocol/brand.ts'
import type { EventWire } from '../../../protocol/event.ts'
import type { EventDetails } from '../../../protocol/endpoints/event-endpoints.ts'
import {
  type EventType,
  isEventType,
  type RuledType,
  type RuleKind,
  ruleKind,
} from '../../../protocol/rules.ts'
import { amountHtml, eventLink, priceHtml } from '../../markup/amount-html.ts'
import { type Html, html } from '../../markup/html.ts'
import { quotedText } from '../../markup/contest-name.ts'
import { kindName, onePaid, plainKind, whoWins } from '../../markup/kind-words.ts'
import { momentOf } from '../../markup/moment-html.ts'
import type { LinkedAnswer, View } from '../../frame/page.ts'
import { capitalized } from '../../markup/prose.ts'

/** Parts of a sentence. Sentences use an amount or a contest only if the rules require one. */
type SentenceParts = Readonly<{
  /** Words of the kind; its winners, also at the start of a sentence; and one winner. */
  kind: Html
  who: Html
  Who: Html
  one: Html
  kots: Html
  contest: Html
  /** The contest at the start of a sentence. */
  Contest: Html
  on: Html
  /** An optional detail; null without it. */
  may(name: string): Html | null
  /** A required detail. */
  must(name: string): Html
  token: string
}>

type Sentence = (parts: SentenceParts) => Html

/** Sentences by type and kind; `*` is for the kinds that the operator names. */
const SENTENCES: { readonly [Type in RuledType]: Readonly<Record<RuleKind<Type>, Sentence>> } = {
  contest: {
    scheduled: ({ Contest, on, may, must }) =>
      html`${Contest}${titleOf(may('title'))} was planned on ${on}: it opens on
      ${must('opensAt')}${closesOn(may('closesAt'))}.`,
    rescheduled: ({ Contest, on, may, must }) =>
      html`${Contest} was rescheduled on ${on}: it opens on ${must('opensAt')}${closesOn(may('closesAt'))}.`,
    renamed: ({ Contest, on, may, must }) =>
      html`${Contest} was renamed on ${on}: its title is “${must('title')}”.${reasonOf(may('reason'))}`,
    opened: ({ Contest, on }) => html`${Contest} opened on ${on}: it takes plays.`,
    closed: ({ Contest, on }) =>
      html`${Contest} closed on ${on}: it takes no more plays and pays its prizes.`,
    paid: ({ Contest, on }) =>
      html`${Contest} was settled on ${on}: no prize was left to pay, and its pool was empty.`,
    cancelled: ({ Contest, on }) => html`${Contest} was cancelled on ${on}: what it holds is paid back.`,
  },
  play: {
    '*': ({ kots, kind, contest, on, may }) =>
      html`${kots} were spent on ${countOf(may('count'), 'play')} (${kind}) in ${contest} on ${on}.`,
  },
  pool: {
    sponsor: ({ kots, contest, on }) => html`A sponsor added ${kots} to the pool of ${contest} on ${on}.`,
    returned: ({ kots, contest, on }) =>
      html`${kots} left over in the pool of ${contest} went back to the treasury on ${on}.`,
    '*': ({ kots, kind, contest, on }) =>
      html`${kots} were added to the pool of ${contest} from the treasury (${kind}) on ${on}.`,
  },
  prize: {
    '*': ({ kots, Who, contest, on, may }) =>
      html`${Who} won ${kots} in ${contest} on ${on}${sharedBy(may('winners'))}: it is owed until it is paid.`,
  },
  hold: {
    '*': ({ who, contest, on, must }) =>
      html`The unpaid prizes of ${who} of ${contest} were put in review on ${on}, until
      ${must('reviewUntil')}.`,
  },
  payout: {
    refund: ({ kots, Contest, on }) => html`${Contest} paid ${kots} back to players on ${on}.`,
    loyalty: ({ kots, on, must }) =>
      html`${kots} were paid to players as the loyalty reward of ${must('month')} on ${on}.`,
    '*': ({ kots, one, Contest, on }) => html`${Contest} paid ${kots} to ${one} on ${on}.`,
  },
  expiry: {
    '*': ({ kots, who, contest, on }) =>
      html`${kots} that ${who} won in ${contest} were never claimed: they expired, and went to the treasury,
      on ${on}.`,
  },
  burn: {
    '*': ({ kots, kind, on }) => html`${kots} of the treasury were burned (${kind}) on ${on}.`,
  },
  loyalty: {
    accrual: ({ kots, on }) => html`${kots} of the treasury were set aside for the loyalty reward on ${on}.`,
    scheduled: ({ on, must }) =>
      html`The loyalty reward of ${must('month')} was planned on ${on}: it is paid on ${must('paysAt')}.`,
    input: ({ on, must }) =>
      html`The input of the loyalty reward of ${must('month')} was fixed by its digest on ${on}, before the
      result was known.`,
    output: ({ kots, on, must }) =>
      html`The loyalty reward of ${must('month')} was computed to be ${kots} for
      ${countOf(must('recipients'), 'recipient')}, and fixed by its digest, on ${on}.`,
  },
  treasury: {
    deposit: ({ kots, on, may }) =>
      html`${kots} were deposited into the treasury on ${on}.${reasonOf(may('reason'))}`,
    withdrawal: ({ kots, on, may }) =>
      html`${kots} were withdrawn from the treasury on ${on}.${reasonOf(may('reason'))}`,
  },
  price: {
    usd: ({ token, on, must }) => html`One ${token} cost ${must('price')} US dollars on ${on}.`,
  },
  trade: {
    buy: ({ kots, on }) => html`${kots} were bought in the token’s market pool on ${on}.`,
    sell: ({ kots, on }) => html`${kots} were sold in the token’s market pool on ${on}.`,
  },
}

/** Sentence about an event, and which event it replaces. Each figure names its source for checks. */
export function eventSentence(
  event: EventWire,
  details: LinkedAnswer<EventDetails>,
  view: Pick<View, 'site'>,
): Html {
  const { type, kind } = event
  const parts = sentenceParts(event, details, view)
  const sentence = type === 'correction' ? correctionSentence(event, parts) : sentenceOf(type, kind)(parts)
  const restates = parts.may('restates')
  return restates === null ? sentence : html`${sentence} It replaces event ${restates}.`
}

/** Sentence of a type and kind, or a general one if this version does not know them. */
function sentenceOf(type: string, kind: string): Sentence {
  const known = isEventType(type) && type !== 'correction' ? sentenceByRule(type, kind) : undefined
  return known ?? (({ on }) => html`${type} / ${kind} was published on ${on}.`)
}

function sentenceByRule(type: RuledType, kind: string): Sentence | undefined {
  const named = ruleKind(type, kind)
  const kinds: Readonly<Partial<Record<string, Sentence>>> = SENTENCES[type]
  return named === undefined ? undefined : kinds[named]
}

function correctionSentence({ contestId, kots }: EventWire, parts: SentenceParts): Html {
  const where = contestId === null ? ',' : html` in ${parts.contest},`
  const counts = kots === null ? '.' : html`: it counts ${parts.kots}.`
  return html`Cancels event ${parts.must('corrects')}, of type ${parts.kind}${where} on ${parts.on}${counts}`
}

function sentenceParts(
  { kind, at, contestId, kots }: EventWire,
  { answer: { details }, address }: LinkedAnswer<EventDetails>,
  { site }: Pick<View, 'site'>,
): SentenceParts {
  const may = (name: string): Html | null => {
    const value = details?.[name]
    return value === undefined
      ? null
      : html`<span data-at="${address}#/details/${name}">${detailHtml(name, String(value))}</span>`
  }
  const must = (name: string): Html => {
    const value = may(name)
    assert(value !== null, `an event of its kind has ${name}`)
    return value
  }
  const contestAs = (word: string): Html => contestLink(word, contestId)
  return {
    kind: ofKind(plainKind(kind)),
    who: ofKind(whoWins(kind)),
    Who: ofKind(whoWins(kind, true)),
    one: ofKind(onePaid(kind)),
    kots:
      kots === null ? html`nothing` : html`<span data-at="/kots">${amountHtml(kots)}</span> ${site.token}`,
    contest: contestAs('contest'),
    Contest: contestAs('Contest'),
    on: html`<span data-at="/at">${momentOf(at)}</span>`,
    may,
    must,
    token: site.token,
  }
}

const ofKind = (words: Html): Html => html`<span data-at="/kind">${words}</span>`

/** A detail as a sentence shows it: a moment, a link to an event, a title, or a figure. */
function detailHtml(name: string, value: string): Html {
  if (/At$|Until$/.test(name)) return momentOf(value)
  if (name === 'corrects' || name === 'restates') return eventLink(Number(value))
  if (name === 'title' || name === 'reason') return quotedText(value)
  if (name === 'price') return priceHtml(value)
  return name === 'month' ? html`${value}` : amountHtml(value)
}

function contestLink(word: string, id: number | null): Html {
  if (id === null) return html`no contest`
  return html`<span data-at="/contestId"><a href="/contests/${id}/ledger">${word} ${id}</a></span>`
}

function titleOf(title: Html | null): Html | null {
  return title === null ? null : html`, “${title}”,`
}

/** Planned close after the planned opening. */
function closesOn(closesAt: Html | null): Html {
  return closesAt === null ? html`, and no end is announced` : html` and closes on ${closesAt}`
}

/** Sentence with the operator's reason; null without one. */
function reasonOf(reason: Html | null): Html | null {
  return reason === null ? null : html` The reason given: “${reason}”.`
}

/** Number of those who share a prize; null without it. */
function sharedBy(count: Html | null): Html | null {
  return count === null ? null : html`, shared by ${count}`
}

/** Count and its noun; a general phrase without a count. */
function countOf(count: Html | null, one: string): Html {
  if (count === null) return one === 'play' ? html`play` : html`its ${one}s`
  return html`${count} ${count.markup.includes('>1</data>') ? one : `${one}s`}`
}

/** Plural names of types of events, for lists. */
const TYPES: Readonly<Record<EventType, string>> = {
  contest: 'Steps of contests',
  play: 'Play',
  pool: 'Changes of pools',
  prize: 'Prizes won',
  hold: 'Reviews',
  payout: 'Payments',
  expiry: 'Prizes never claimed',
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
    renamed: () => html`Contest renamed`,
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
  expiry: { '*': (kind) => html`Never claimed: ${whoWins(kind)}` },
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

/** Name of an event: `Payment to a voter`. An event unknown to this version has the name of its type. */
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
