import type { Contest, Payouts, Unpaid } from '../../../protocol/endpoints/contest-endpoints.ts'
import { UNPAID_STATUSES, type UnpaidStatus } from '../../../protocol/enumerations.ts'
import type { View } from '../../frame/page.ts'
import { isWholeList } from '../../frame/page-rows.ts'
import { headlineAmount, isPositive, isZero } from '../../markup/amount-html.ts'
import { contestLink } from '../../markup/contest-name.ts'
import { type Derived, derivedSum, negated } from '../../markup/derived.ts'
import { type Html, html } from '../../markup/html.ts'
import { clockMoment, nearMoment } from '../../markup/moment-html.ts'
import { askContest, nothingHeading } from './no-payouts.ts'

/** Top of the page: what can be paid now and what waits until when, in a sentence. */
export async function payoutsHeading(payouts: Payouts, view: View): Promise<Html> {
  if (isNothingOpen(payouts)) return nothingHeading(payouts, view)
  const contest = await askContest(view)
  const named =
    contest === null
      ? null
      : html`<p data-at="${contest.address}#/title ${contest.address}#/id">${ofContest(contest.answer)}</p>`
  const noun = contest === null ? ' of prizes' : ''
  return html`${named}
    <h1>${sentenceOf(payouts, noun, view)}</h1>
    ${overpaidNote(payouts, view)}`
}

function ofContest({ id, title }: Contest): Html {
  return html`Unpaid prizes of ${contestLink(id, title)}`
}

/** Whether no prize is unpaid. The totals are of all pages. */
export function isNothingOpen({ unpaid, totals }: Payouts): boolean {
  return unpaid.length === 0 && UNPAID_STATUSES.every((status) => isZero(totals[status]))
}

function sentenceOf(payouts: Payouts, noun: string, view: View): Html {
  const { token } = view.site
  const ready = totalOf(payouts, 'payable', 'awaiting_claim')
  const rest = totalOf(payouts, 'locked', 'in_review')
  const waits = isPositive(rest.figure)
  if (isPositive(ready.figure)) {
    return waits
      ? html`${shown(ready)} ${token}${noun} can be paid now, ${shown(rest)} more ${lastDay(payouts, view)}`
      : html`All ${shown(ready)} ${token}${noun === '' ? '' : ' of unpaid prizes'} can be paid now`
  }
  if (waits)
    return html`${shown(rest)} ${token}${noun} wait${noun === '' ? 's' : ''}${firstDay(payouts, view)}`
  return html`${overpaidOf(payouts)} ${token} more was paid or has expired than was won`
}

/** Sum of the totals of two states. */
function totalOf({ totals }: Payouts, ...states: readonly [UnpaidStatus, UnpaidStatus]): Derived {
  const sum = derivedSum(states.map((status) => ({ pointer: `/totals/${status}`, figure: totals[status] })))
  return sum ?? { expression: '', figure: '0' }
}

function shown({ expression, figure }: Derived): Html {
  return html`<span data-expr="${expression}">${headlineAmount(figure)}</span>`
}

/** Amount by which payments and what has expired are above prizes. Its total is negative. */
function overpaidOf({ totals }: Payouts): Html {
  return shown(negated({ pointer: '/totals/overpaid', figure: totals.overpaid }))
}

/** Moment by which all can be paid; known only from the whole list. */
function lastDay(payouts: Payouts, view: View): Html {
  const last = waitingIn(payouts).at(-1)
  if (last === undefined || !isWholeList(payouts, view)) return html`later`
  const { availableAt } = last.unpaid
  const pointer = `/unpaid/${last.index}/availableAt`
  return html`by <span data-at="${pointer}">${clockMoment(availableAt, view)}</span>`
}

/** Moment from which the first can be paid; known only from the whole list. */
function firstDay(payouts: Payouts, view: View): Html | null {
  const [first] = waitingIn(payouts)
  if (first === undefined || !isWholeList(payouts, view)) return null
  const moment = nearMoment(first.unpaid.availableAt, view)
  return html`; the first can be paid from
    <span data-at="/unpaid/${first.index}/availableAt">${moment}</span>`
}

/** Note that more was paid or has expired than was won, unless the headline says so; null if none was. */
function overpaidNote(payouts: Payouts, { site }: View): Html | null {
  if (isZero(payouts.totals.overpaid)) return null
  const isSaid = UNPAID_STATUSES.every((status) => status === 'overpaid' || isZero(payouts.totals[status]))
  const why = 'because a prize was corrected afterwards.'
  return isSaid
    ? html`<p class="lead">That is ${why}</p>`
    : html`<p class="lead">
        ${overpaidOf(payouts)} ${site.token} more was paid or has expired than was won, ${why}
      </p>`
}

/** Unpaid prize with its index in the answer. */
export type IndexedPrize = Readonly<{ unpaid: Unpaid; index: number }>

/** Prizes in these states, the soonest first. */
export function prizesIn({ unpaid }: Payouts, ...states: readonly UnpaidStatus[]): readonly IndexedPrize[] {
  return unpaid
    .map((one, index) => ({ unpaid: one, index }))
    .filter((one) => states.includes(one.unpaid.status))
    .toSorted((a, b) => a.unpaid.availableAtMs - b.unpaid.availableAtMs)
}

/** Prizes that wait for a date, the soonest first. */
export function waitingIn(payouts: Payouts): readonly IndexedPrize[] {
  return prizesIn(payouts, 'locked', 'in_review')
}
