import type { ContestLedger, Payouts, Unpaid } from '../../../protocol/endpoints/contest-endpoints.ts'
import type { UnpaidStatus } from '../../../protocol/enumerations.ts'
import { isPositive, isZero } from '../../markup/amount-html.ts'
import { type Derived, derived, derivedSum } from '../../markup/derived.ts'
import { type Html, html, type Part } from '../../markup/html.ts'
import { prizesOf, stateInWords } from '../../markup/kind-words.ts'
import { clockMoment } from '../../markup/moment-html.ts'
import type { LinkedAnswer, View } from '../../frame/page.ts'

/** Kinds of prizes that a sentence names. */
const NAMED_MAX = 3
/** Dates of a state that have a sentence each. */
const DATES_MAX = 2

const STATES = ['in_review', 'locked', 'payable', 'awaiting_claim'] as const
type Waiting = (typeof STATES)[number]

type Rows = readonly Readonly<{ one: Unpaid; pointer: string }>[]

/** Sentences for each state in which prizes wait: whose they are, and from when they can be paid. */
export function waitingSentences(
  unpaid: LinkedAnswer<Payouts>,
  ledger: ContestLedger,
  view: View,
): Html | null {
  const { address, answer } = unpaid
  if (answer.next !== null) return waitingTotals(unpaid, view.site.token)
  const rows: Rows = answer.unpaid.map((one, index) => ({ one, pointer: `${address}#/unpaid/${index}` }))
  const sentences = STATES.flatMap((state) => {
    const here = rows.filter(({ one }) => one.status === state)
    return byMoment(state, here).map((some) => html`${sentenceOf(state, some, rows, { ledger, view })} `)
  })
  return sentences.length === 0 ? null : html`${sentences}`
}

/** Rows of a state, apart for each date if every kind has one date: readers look for the date of their kind. */
function byMoment(state: Waiting, rows: Rows): readonly Rows[] {
  if (
    state === 'payable' ||
    state === 'awaiting_claim' ||
    new Set(rows.map(({ one }) => one.kind)).size < rows.length
  )
    return rows.length === 0 ? [] : [rows]
  const moments = [...new Set(rows.map(({ one }) => one.availableAtMs))].toSorted((a, b) => a - b)
  if (moments.length > DATES_MAX) return [rows]
  return moments.map((at) => rows.filter(({ one }) => one.availableAtMs === at))
}

type Context = Readonly<{ ledger: ContestLedger; view: View }>

function sentenceOf(state: Waiting, here: Rows, all: Rows, { ledger, view }: Context): Html {
  const kinds = [...new Map(here.map((row) => [row.one.kind, row])).values()]
  const last = here.reduce((latest, row) => (row.one.availableAtMs > latest.one.availableAtMs ? row : latest))
  const isOneMoment = here.every(({ one }) => one.availableAtMs === last.one.availableAtMs)
  const named = kinds.length <= NAMED_MAX
  const subjects = named ? kinds.map(({ one }) => subjectOf(one, all, ledger)) : [SEVERAL]
  const isMany = subjects.length > 1 || subjects.some((subject) => subject.isMany)
  const pointers = [
    ...(named ? kinds.map(({ pointer }) => `${pointer}/kind`) : []),
    `${last.pointer}/status`,
    ...(state === 'in_review' || state === 'locked' ? [`${last.pointer}/availableAt`] : []),
  ]
  const moment = clockMoment(last.one.availableAt, view)
  return html`<span data-at="${pointers.join(' ')}"
    >${listed(subjects.map(({ words }, index) => (index === 0 ? words.first : words.later)))}
    ${predicateOf(state, { isMany, isOneMoment, moment })}.</span
  >`
}

type Predicate = Readonly<{ isMany: boolean; isOneMoment: boolean; moment: Html }>

function predicateOf(state: Waiting, { isMany, isOneMoment, moment }: Predicate): Html {
  const be = isMany ? 'are' : 'is'
  const until = isOneMoment ? html`<b>${moment}</b>` : html`<b>${moment}</b> at the latest`
  switch (state) {
    case 'in_review':
      return html`${be} ${stateInWords(state)} until ${until}`
    case 'locked':
      return html`${be} ${stateInWords(state)}, and can be paid from ${until} on`
    case 'payable':
      return stateInWords(state, 'can be paid now')
    case 'awaiting_claim':
      return html`${isMany ? 'wait' : 'waits'} ${stateInWords(state)}`
  }
}

type Subject = Readonly<{ words: Readonly<{ first: Html; later: Html }>; isMany: boolean }>

const SEVERAL: Subject = {
  words: { first: html`Prizes of several kinds`, later: html`prizes of several kinds` },
  isMany: true,
}

/** The prizes of a kind in one state: all of them, the rest after some were paid, or a part. */
function subjectOf({ kind, status }: Unpaid, all: Rows, { prizes }: ContestLedger): Subject {
  const { words, isMany } = prizesOf(kind)
  const isSplit = all.some(({ one }) => one.kind === kind && one.status !== status)
  const line = prizes.find((prize) => prize.kind === kind)
  const isRest = line !== undefined && !(isZero(line.redeemed) && isZero(line.expired))
  if (isSplit) return { words: { first: html`Part of ${words}`, later: html`part of ${words}` }, isMany }
  if (isRest)
    return { words: { first: html`The rest of ${words}`, later: html`the rest of ${words}` }, isMany }
  return { words: { first: prizesOf(kind, true).words, later: words }, isMany }
}

function listed(parts: readonly Html[]): Part {
  return parts.map((part, index) => {
    const before = index === 0 ? '' : index === parts.length - 1 ? ' and ' : ', '
    return html`${before}${part}`
  })
}

/** Sums that wait for a date and that do not, by the totals of all rows. */
function waitingTotals({ answer: { totals }, address }: LinkedAnswer<Payouts>, token: string): Html | null {
  const of = (...states: readonly UnpaidStatus[]): Derived | null =>
    derivedSum(states.map((state) => ({ pointer: `${address}#/totals/${state}`, figure: totals[state] })))
  const [dated, free] = [of('locked', 'in_review'), of('awaiting_claim', 'payable')]
  if (dated === null || free === null) return null
  if (!isPositive(dated.figure)) return html`All that is unpaid can be paid now.`
  const rest = isPositive(free.figure) ? html`, and ${derived(free)} ${token} can be paid now` : null
  return html`${derived(dated)} ${token} wait for a date${rest}.`
}
