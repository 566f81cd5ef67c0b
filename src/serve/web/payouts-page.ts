import type { Payouts, UnpaidStatus } from '../../protocol/resources.ts'
import { UNPAID_STATUSES } from '../../protocol/resources.ts'
import { amount } from './amount.ts'
import { contestLink } from './contest-name.ts'
import { further, jsonLine } from './further.ts'
import type { Html } from './html.ts'
import { html } from './html.ts'
import { momentOf } from './moment.ts'
import type { Page, View } from './page.ts'
import { payoutsSubscription } from './payouts-calendar.ts'
import { daysChart, daysPicture, waitingTable } from './payouts-days.ts'
import { nothingOpen } from './payouts-none.ts'
import type { Table } from './table.ts'
import type { Placed } from './unpaid-table.ts'
import { STATUS_WORDS, unpaidTable } from './unpaid-table.ts'

/** Rows of a group on a page: more stand in the export and on further pages. */
const ROWS_SHOWN = 200

/** What each state means for who has won. */
const MEANINGS: Readonly<Record<UnpaidStatus, string>> = {
  locked: 'Won; it can be paid from a fixed day on.',
  in_review: 'Held back while it is checked that the contest went by its rules.',
  awaiting_claim: 'Free to be paid as soon as the winner asks for it on the platform.',
  payable: 'Free to be paid; the platform pays it without being asked.',
  overpaid: 'More was paid than was won, because a prize was corrected after it was paid.',
}

/** `/payouts`: what was won and is not paid yet, and when it will be. */
export const payoutsPage: Page<Payouts> = {
  endpoint: 'payouts',
  further: true,
  title: (_, view) => titleOf(view),
  description: ({ unpaid, totals }, { site }) =>
    unpaid.length === 0
      ? null
      : `Won and not paid yet: ${statesIn(totals)
          .map((status) => `${totals[status]} ${site.token} ${STATUS_WORDS[status]}`)
          .join(', ')}.`,
  csv: tableOf,
  svg: (payouts, view) => daysPicture(payouts, waitingIn(payouts), titleOf(view), view),
  async render(payouts, view) {
    const contests = await further(view, 'contests', { query: 'status=paying' })
    const titles = new Map(contests.answer.contests.map(({ id, title }) => [id, title]))
    return html`${filterOf(payouts, view)}
    ${
      payouts.unpaid.length === 0
        ? await nothingOpen(view)
        : html`${totalsOf(payouts, view)} ${waiting(payouts, titles, view)}
          ${ready(placed(payouts, 'payable', 'awaiting_claim'), titles, view)}
          ${overpaid(placed(payouts, 'overpaid'), titles, view)} ${onwards(payouts, view)}`
    }
    ${meanings()} ${jsonLine([['the titles of contests', contests]])}`
  },
}

function titleOf({ query }: View): string {
  const id = query.integer('contestId')
  return id === undefined ? 'Prizes not yet paid' : `Prizes of contest ${id} not yet paid`
}

/** The rows in these states, the soonest available first. */
function placed({ unpaid }: Payouts, ...states: readonly UnpaidStatus[]): readonly Placed[] {
  return unpaid
    .map((one, index) => ({ unpaid: one, index }))
    .filter((one) => states.includes(one.unpaid.status))
    .toSorted((a, b) => a.unpaid.availableAtMs - b.unpaid.availableAtMs)
}

function waitingIn(payouts: Payouts): readonly Placed[] {
  return placed(payouts, 'locked', 'in_review')
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

/** The states that there are totals of; nothing is said of what seldom happens where it has not. */
function statesIn(totals: Payouts['totals']): readonly UnpaidStatus[] {
  return UNPAID_STATUSES.filter((status) => status !== 'overpaid' || /[1-9]/.test(totals[status]))
}

/** How much is in each state, whatever the page holds of it. */
function totalsOf({ totals, now }: Payouts, { site }: View): Html {
  const shown = statesIn(totals)
  return html`<dl class="figures">
      ${shown.map(
        (status) =>
          html`<div>
            <dt>${capital(STATUS_WORDS[status])}, ${site.token}</dt>
            <dd data-at="/totals/${status}">${amount(totals[status])}</dd>
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
    return html`<h2>Waiting for a date</h2>
      <p>Nothing is locked or in review.</p>`
  }
  const cut = rows.length > ROWS_SHOWN
  return html`<h2>Waiting for a date</h2>
    <p>Locked or in review; by the day on which it becomes available.</p>
    ${daysChart(payouts, rows, view)} ${payoutsSubscription(view.query.integer('contestId'), view)}
    ${waitingTable(rows.slice(0, ROWS_SHOWN), { titles, cut, most: ROWS_SHOWN }, view)}
    ${cut ? moreInTheExport() : null}`
}

function ready(rows: readonly Placed[], titles: Titles, view: View): Html {
  const [oldest] = rows
  if (oldest === undefined) {
    return html`<h2>Ready</h2>
      <p>Nothing is ready to be paid or claimed.</p>`
  }
  const { contestId, kind, availableAt } = oldest.unpaid
  const pointer = `/unpaid/${oldest.index}`
  return html`<h2>Ready to be paid, or awaiting a claim</h2>
    <p data-at="${pointer}/kind ${pointer}/contestId ${pointer}/availableAt">
      Open for the longest time: ${kind} of ${contestLink(contestId, titles.get(contestId) ?? null)},
      available since ${momentOf(availableAt)}.
    </p>
    ${unpaidTable(rows, view, { name: 'Prizes ready to be paid or awaiting a claim', titles, ...LIST })}
    ${rows.length > ROWS_SHOWN ? moreInTheExport() : null}`
}

function overpaid(rows: readonly Placed[], titles: Titles, view: View): Html | null {
  if (rows.length === 0) return null
  return html`<h2>Overpaid</h2>
    ${unpaidTable(rows, view, { name: 'Prizes overpaid', titles, ...LIST })}`
}

const LIST = { list: '/unpaid', most: ROWS_SHOWN } as const

function moreInTheExport(): Html {
  return html`<p class="quiet">Not all are shown here: the CSV and the JSON below have them all.</p>`
}

function onwards({ next }: Payouts, { query }: View): Html | null {
  const paged = query.has('after')
  if (!paged && next === null) return null
  return html`<nav aria-label="Pages of unpaid prizes" class="pager" data-chrome>
    ${paged ? html`<a href="/payouts${query.format({ after: undefined })}">First of them</a>` : null}
    ${next === null ? null : html`<a rel="next" href="${next.replace('/api/v1', '')}">Further ones</a>`}
  </nav>`
}

function meanings(): Html {
  return html`<h2>What the states mean</h2>
    <dl class="fields">
      ${UNPAID_STATUSES.map(
        (status) =>
          html`<dt id="${status}">${STATUS_WORDS[status]}</dt>
            <dd>${MEANINGS[status]}</dd>`,
      )}
    </dl>
    <p>
      Here are totals of each contest and kind of prize, and nobody’s name or wallet. Winners see their own
      share on the platform.
    </p>`
}

function capital(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1)
}

const COLUMNS = [
  'contestId',
  'kind',
  'kots',
  'status',
  'unlocksAt',
  'unlocksAtMs',
  'reviewUntil',
  'reviewUntilMs',
  'availableAt',
  'availableAtMs',
] as const

function tableOf({ unpaid, next }: Payouts): Table {
  return { columns: COLUMNS, rows: unpaid.map((one) => COLUMNS.map((name) => one[name])), next }
}
