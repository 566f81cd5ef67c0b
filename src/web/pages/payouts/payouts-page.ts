import type { Payouts, UnpaidStatus } from '../../../protocol/resources.ts'
import { UNPAID_STATUSES } from '../../../protocol/resources.ts'
import { amountHtml, isZero } from '../../markup/amount-html.ts'
import { contestLink } from '../../markup/contest-name.ts'
import { askEndpoint, jsonLinks } from '../../frame/linked-answers.ts'
import type { Html } from '../../markup/html.ts'
import { html } from '../../markup/html.ts'
import { stateWords } from '../../markup/kind-words.ts'
import { momentOf } from '../../markup/moment-html.ts'
import type { EndpointPage, View } from '../../frame/page.ts'
import { payoutsSubscription } from './payouts-calendar.ts'
import { daysChart, daysPicture, waitingTable } from './payouts-days.ts'
import { nothingOpen } from './no-payouts.ts'
import { isWholeList, PAGE_ROWS_MAX } from '../../frame/page-rows.ts'
import { capitalized } from '../../markup/prose.ts'
import { ANSWER_TABLES } from '../../../serve/api/answer-tables.ts'
import type { IndexedPrize } from './unpaid-table.ts'
import { unpaidTable } from './unpaid-table.ts'

/** Rows of a group on a page. Exports and the next pages have more. */
const ROWS_SHOWN = 200

/** Meaning of each state for a winner. */
const MEANINGS: Readonly<Record<UnpaidStatus, string>> = {
  locked: 'Won; it can be paid from a fixed day on.',
  in_review: 'Held back while it is checked that the contest went by its rules.',
  awaiting_claim: 'Free to be paid as soon as the winner asks for it on the platform.',
  payable: 'Free to be paid; the platform pays it without being asked.',
  overpaid: 'More was paid than was won, because a prize was corrected after it was paid.',
}

/** `/payouts`: unpaid prizes, and when they become available. */
export const payoutsPage: EndpointPage<'payouts'> = {
  endpoint: 'payouts',
  rowsMax: PAGE_ROWS_MAX,
  pictureRowsMax: PAGE_ROWS_MAX,
  asksMore: true,
  title: (_, view) => titleOf(view),
  description: (payouts, { site }) =>
    isNothingOpen(payouts)
      ? null
      : `Won and not paid yet: ${statesIn(payouts.totals)
          .map((status) => `${payouts.totals[status]} ${site.token} ${stateWords(status)}`)
          .join(', ')}.`,
  csv: ANSWER_TABLES.payouts,
  svg: (payouts, view) => daysPicture(payouts, waitingIn(payouts), titleOf(view), view),
  async render(payouts, view) {
    const contests = await askEndpoint(view, 'contests', { query: `status=paying&limit=${PAGE_ROWS_MAX}` })
    const titles = new Map(contests.answer.contests.map(({ id, title }) => [id, title]))
    return html`${filterOf(payouts, view)}
    ${
      isNothingOpen(payouts)
        ? await nothingOpen(view)
        : html`${totalsOf(payouts, view)} ${partNote(payouts, view)} ${waiting(payouts, titles, view)}
          ${ready(payouts, titles, view)} ${overpaid(rowsIn(payouts, 'overpaid'), titles, view)}
          ${pager(payouts, view)}`
    }
    ${meanings()} ${jsonLinks([['the titles of contests', contests]])}`
  },
}

function titleOf({ query }: View): string {
  const id = query.integer('contestId')
  return id === undefined ? 'Prizes not yet paid' : `Prizes of contest ${id} not yet paid`
}

/** Rows in these states, the soonest available first. */
function rowsIn({ unpaid }: Payouts, ...states: readonly UnpaidStatus[]): readonly IndexedPrize[] {
  return unpaid
    .map((one, index) => ({ unpaid: one, index }))
    .filter((one) => states.includes(one.unpaid.status))
    .toSorted((a, b) => a.unpaid.availableAtMs - b.unpaid.availableAtMs)
}

/** Whether no prize is unpaid. The totals are of all pages. */
function isNothingOpen({ unpaid, totals }: Payouts): boolean {
  return unpaid.length === 0 && hasNothing(totals, ...UNPAID_STATUSES)
}

function hasNothing(totals: Payouts['totals'], ...states: readonly UnpaidStatus[]): boolean {
  return states.every((status) => isZero(totals[status]))
}

/** Note that the totals are of more prizes than the page has; null if it has all. */
function partNote(payouts: Payouts, view: View): Html | null {
  if (isWholeList(payouts, view)) return null
  if (payouts.unpaid.length === 0) {
    return html`<p class="lead">No prize that is open comes after these: the totals are of those before.</p>`
  }
  return html`<p class="quiet">
    The totals are of all prizes that are open; what follows is of a part of them, those that were won first.
    <a href="${payouts.next === null ? '#pages' : pagePathOf(payouts.next)}"
      >${payouts.next === null ? 'To the others' : 'To the next part'}</a
    >.
  </p>`
}

function waitingIn(payouts: Payouts): readonly IndexedPrize[] {
  return rowsIn(payouts, 'locked', 'in_review')
}

function filterOf({ unpaid }: Payouts, { query }: View): Html {
  const id = query.integer('contestId')
  return html`<form class="ask" method="get" action="/payouts" data-chrome>
    <label
      >Contest number
      <input type="number" name="contestId" min="1" step="1" inputmode="numeric" value="${id ?? ''}" />
    </label>
    <button>Show</button>
    ${
      id === undefined
        ? null
        : html`${unpaid.length === 0 ? null : html`<a href="/contests/${id}/ledger">The ledger of this contest</a>`}
            <a href="/payouts">All contests</a>`
    }
  </form>`
}

/** States whose totals are shown: all, but `overpaid` only if it is not zero. */
function statesIn(totals: Payouts['totals']): readonly UnpaidStatus[] {
  return UNPAID_STATUSES.filter((status) => status !== 'overpaid' || !isZero(totals[status]))
}

/** Total of each state, on all pages. */
function totalsOf({ totals, now }: Payouts, { site }: View): Html {
  const shown = statesIn(totals)
  return html`<dl class="figures">
      ${shown.map(
        (status) =>
          html`<div>
            <dt>${capitalized(stateWords(status))}, ${site.token}</dt>
            <dd data-at="/totals/${status}">${amountHtml(totals[status])}</dd>
            <dd class="beside"><a href="#${status}">what this means</a></dd>
          </div>`,
      )}
    </dl>
    <p class="quiet" data-at="/now/at">States as of ${momentOf(now.at)}.</p>`
}

type Titles = ReadonlyMap<number, string | null>

function waiting(payouts: Payouts, titles: Titles, view: View): Html {
  const rows = waitingIn(payouts)
  if (rows.length === 0) {
    const nowhere = hasNothing(payouts.totals, 'locked', 'in_review')
    return html`<h2>Waiting for a date</h2>
      <p>${nowhere ? 'Nothing is locked or in review.' : 'Nothing of this part is locked or in review.'}</p>`
  }
  const cut = rows.length > ROWS_SHOWN
  return html`<h2>Waiting for a date</h2>
    <p>Locked or in review; by the day on which it becomes available.</p>
    ${daysChart(payouts, rows, view)} ${payoutsSubscription(view.query.integer('contestId'), view)}
    ${waitingTable(rows.slice(0, ROWS_SHOWN), { titles, cut, most: ROWS_SHOWN }, view)}
    ${cut ? moreInTheExport(payouts, view) : null}`
}

function ready(payouts: Payouts, titles: Titles, view: View): Html {
  const rows = rowsIn(payouts, 'payable', 'awaiting_claim')
  const [oldest] = rows
  if (oldest === undefined) {
    const nowhere = hasNothing(payouts.totals, 'payable', 'awaiting_claim')
    return html`<h2>Ready</h2>
      <p>Nothing ${nowhere ? '' : 'of this part '}is ready to be paid or claimed.</p>`
  }
  const { contestId, kind, availableAt } = oldest.unpaid
  const pointer = `/unpaid/${oldest.index}`
  return html`<h2>Ready to be paid, or awaiting a claim</h2>
    <p data-at="${pointer}/kind ${pointer}/contestId ${pointer}/availableAt">
      ${isWholeList(payouts, view) ? 'Open' : 'Of this part, open'} for the longest time: ${kind} of
      ${contestLink(contestId, titles.get(contestId) ?? null)}, available since ${momentOf(availableAt)}.
    </p>
    ${unpaidTable(rows, view, { name: 'Prizes ready to be paid or awaiting a claim', titles, ...LIST })}
    ${rows.length > ROWS_SHOWN ? moreInTheExport(payouts, view) : null}`
}

function overpaid(rows: readonly IndexedPrize[], titles: Titles, view: View): Html | null {
  if (rows.length === 0) return null
  return html`<h2>Overpaid</h2>
    ${unpaidTable(rows, view, { name: 'Prizes overpaid', titles, ...LIST })}`
}

const LIST = { list: '/unpaid', most: ROWS_SHOWN } as const

function moreInTheExport(payouts: Payouts, view: View): Html {
  const has = isWholeList(payouts, view) ? 'have them all' : 'have more of them, and lead on'
  return html`<p class="quiet">Not all are shown here: the CSV and the JSON below ${has}.</p>`
}

function pagePathOf(next: string): string {
  return next.replace('/api/v1', '')
}

function pager({ next }: Payouts, { query }: View): Html | null {
  const paged = query.has('after')
  if (!paged && next === null) return null
  return html`<nav id="pages" aria-label="Pages of unpaid prizes" class="pager" data-chrome>
    ${paged ? html`<a href="/payouts${query.format({ after: undefined })}">First of them</a>` : null}
    ${next === null ? null : html`<a rel="next" href="${pagePathOf(next)}">Further ones</a>`}
  </nav>`
}

function meanings(): Html {
  return html`<h2>What the states mean</h2>
    <dl class="fields">
      ${UNPAID_STATUSES.map(
        (status) =>
          html`<dt id="${status}">${stateWords(status)}</dt>
            <dd>${MEANINGS[status]}</dd>`,
      )}
    </dl>
    <p>
      Here are totals of each contest and kind of prize, and nobody’s name or wallet. Winners see their own
      share on the platform.
    </p>`
}
