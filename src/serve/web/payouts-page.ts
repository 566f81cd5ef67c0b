import type { Payouts, Unpaid, UnpaidStatus } from '../../protocol/resources.ts'
import { UNPAID_STATUSES } from '../../protocol/resources.ts'
import { amount } from './amount.ts'
import { contestLink } from './contest-name.ts'
import { further, jsonLine } from './further.ts'
import type { Html } from './html.ts'
import { html } from './html.ts'
import { momentOf } from './moment.ts'
import type { Page, View } from './page.ts'
import type { Placed } from './payouts-days.ts'
import { daysChart, waitingTable } from './payouts-days.ts'
import type { Table } from './table.ts'
import { STATUS_WORDS, unpaidTable } from './unpaid-table.ts'

/** Rows of a group on a page: more stand in the export and on further pages. */
const ROWS_SHOWN = 200

/** What each state means for who has won. */
const MEANINGS: Readonly<Record<UnpaidStatus, string>> = {
  locked: 'Won, and paid from a fixed day on: until then it is locked.',
  in_review: 'Held back while it is checked that the contest went by its rules.',
  awaiting_claim: 'Free to be paid as soon as the winner asks for it on the platform.',
  payable: 'Free to be paid; the platform pays it without being asked.',
  overpaid: 'More was paid than was won, because a prize was corrected after it was paid.',
}

/** `/payouts`: what was won and is not paid yet, and when it will be. */
export const payoutsPage: Page<Payouts> = {
  endpoint: 'payouts',
  further: true,
  title: (_, { query }) => {
    const id = query.integer('contestId')
    return id === undefined ? 'Prizes not yet paid' : `Prizes of contest ${id} not yet paid`
  },
  csv: tableOf,
  async render(payouts, view) {
    const contests = await further(view, 'contests', { query: 'status=paying' })
    const titles = new Map(contests.answer.contests.map(({ id, title }) => [id, title]))
    const placed = payouts.unpaid.map((unpaid, index) => ({ unpaid, index }))
    const inOrder = placed.toSorted((a, b) => a.unpaid.availableAtMs - b.unpaid.availableAtMs)
    const of = (...states: readonly UnpaidStatus[]): readonly Placed[] =>
      inOrder.filter(({ unpaid }) => states.includes(unpaid.status))
    return html`${filterOf(view)}
    ${
      payouts.unpaid.length === 0
        ? nothingOpen(view)
        : html`${totalsOf(payouts, view)} ${waiting(of('locked', 'in_review'), titles, view)}
          ${ready(of('payable', 'awaiting_claim'), titles, view)} ${overpaid(of('overpaid'), titles, view)}
          ${onwards(payouts, view)}`
    }
    ${meanings()} ${jsonLine([['the titles of contests', contests]])}`
  },
}

function filterOf({ query }: View): Html {
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
        : html`<a href="/contests/${id}/ledger">The ledger of this contest</a>
            <a href="/payouts">All contests</a>`
    }
  </form>`
}

function nothingOpen({ query }: View): Html {
  const id = query.integer('contestId')
  return html`<p class="lead"><b class="ok">✓ Everything that was won is paid.</b></p>
    <p>
      ${
        id === undefined
          ? html`See <a href="/contests?status=paid">the contests that are paid in full</a>, each with its
              payouts.`
          : html`See <a href="/contests/${id}/ledger">every payout of this contest</a>.`
      }
    </p>`
}

/** How much is in each state, whatever the page holds of it. */
function totalsOf({ totals, now }: Payouts, { site }: View): Html {
  const shown = UNPAID_STATUSES.filter((status) => status !== 'overpaid' || /[1-9]/.test(totals[status]))
  return html`<dl class="figures">
      ${shown.map(
        (status) =>
          html`<div>
            <dt>${capital(STATUS_WORDS[status])}, ${site.token}</dt>
            <dd>${amount(totals[status])}</dd>
            <dd class="beside"><a href="#${status}">what this means</a></dd>
          </div>`,
      )}
    </dl>
    <p class="quiet">States as of ${momentOf(now.at)}.</p>`
}

type Titles = ReadonlyMap<number, string | null>

function waiting(rows: readonly Placed[], titles: Titles, view: View): Html {
  if (rows.length === 0) {
    return html`<h2>Waiting for a date</h2>
      <p>Nothing is locked or in review.</p>`
  }
  const cut = rows.length > ROWS_SHOWN
  return html`<h2>Waiting for a date</h2>
    <p>Locked or in review; by the day on which it becomes available.</p>
    ${daysChart(rows, view)} ${waitingTable(rows.slice(0, ROWS_SHOWN), { titles, cut }, view)}
    ${cut ? moreInTheExport() : null}`
}

function ready(rows: readonly Placed[], titles: Titles, view: View): Html {
  const [oldest] = rows
  if (oldest === undefined) {
    return html`<h2>Ready</h2>
      <p>Nothing is ready to be paid or claimed.</p>`
  }
  const { contestId, kind, availableAt } = oldest.unpaid
  return html`<h2>Ready to be paid, or awaiting a claim</h2>
    <p>
      Open for the longest time: ${kind} of ${contestLink(contestId, titles.get(contestId) ?? null)},
      available since ${momentOf(availableAt)}.
    </p>
    ${unpaidTable(rowsOf(rows), view, { name: 'Prizes ready to be paid or awaiting a claim', titles })}
    ${rows.length > ROWS_SHOWN ? moreInTheExport() : null}`
}

function overpaid(rows: readonly Placed[], titles: Titles, view: View): Html | null {
  if (rows.length === 0) return null
  return html`<h2>Overpaid</h2>
    ${unpaidTable(rowsOf(rows), view, { name: 'Prizes overpaid', titles })}`
}

function rowsOf(rows: readonly Placed[]): readonly Unpaid[] {
  return rows.slice(0, ROWS_SHOWN).map(({ unpaid }) => unpaid)
}

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
      Here are totals of each contest and kind of prize, and nobody’s name or wallet: who has won sees on the
      platform which of it is theirs.
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
