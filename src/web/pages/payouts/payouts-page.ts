import type { Payouts } from '../../../protocol/endpoints/contest-endpoints.ts'
import { UNPAID_STATUSES } from '../../../protocol/enumerations.ts'
import { ANSWER_TABLES } from '../../../serve/api/answer-tables.ts'
import { askEndpoint, jsonLinks } from '../../frame/linked-answers.ts'
import type { EndpointPage, View } from '../../frame/page.ts'
import { isWholeList, PAGE_ROWS_MAX } from '../../frame/page-rows.ts'
import { amountHtml, isPositive, isZero } from '../../markup/amount-html.ts'
import { type Segment, segmentBar } from '../../markup/book.ts'
import { type Html, html } from '../../markup/html.ts'
import { stateWords } from '../../markup/kind-words.ts'
import { plainText } from '../../markup/page-lead.ts'
import { capitalized } from '../../markup/prose.ts'
import { askContest, nothingOpen } from './no-payouts.ts'
import { payoutsAside } from './payouts-aside.ts'
import { type Titles, unpaidBooks } from './payouts-book.ts'
import { daysPicture } from './payouts-days.ts'
import { isNothingOpen, payoutsHeading } from './payouts-headline.ts'

/** `/payouts`: unpaid prizes, and when they can be paid. */
export const payoutsPage: EndpointPage<'payouts'> = {
  endpoint: 'payouts',
  rowsMax: PAGE_ROWS_MAX,
  pictureRowsMax: PAGE_ROWS_MAX,
  asksMore: true,
  title: (_, view) => titleOf(view),
  description: describe,
  csv: ANSWER_TABLES.payouts,
  svg: (payouts, view) => daysPicture(payouts, titleOf(view), view),
  heading: payoutsHeading,
  async render(payouts, view) {
    const { titles, links } = await askTitles(view)
    return html`<div class="two">
        <section>
          ${
            isNothingOpen(payouts)
              ? await nothingOpen(view)
              : html`${barOf(payouts)} ${partNote(payouts, view)} ${unpaidBooks(payouts, titles, view)}
                ${pager(payouts, view)}`
          }
        </section>
        ${payoutsAside(payouts, titles, view)}
      </div>
      ${links}`
  },
}

function titleOf({ query }: View): string {
  const id = query.integer('contestId')
  return id === undefined ? 'Unpaid prizes' : `Unpaid prizes of contest ${id}`
}

/** Link-preview text: the total of each state. */
function describe(payouts: Payouts, view: View): string {
  if (isNothingOpen(payouts)) {
    return view.query.has('contestId')
      ? `${titleOf(view)}, by kind, with the state and the date of each.`
      : 'No prize is unpaid: every prize won so far is paid, or has expired.'
  }
  const states = UNPAID_STATUSES.filter((status) => !isZero(payouts.totals[status]))
  const totals = states.map(
    (status) => `${plainText(amountHtml(payouts.totals[status]))} ${view.site.token} ${stateWords(status)}`,
  )
  return `Won and not paid yet: ${totals.join(', ')}.`
}

/** Titles of the contests that pay, for the page of all contests, and the JSON of what the page shows of contests. */
async function askTitles(view: View): Promise<Readonly<{ titles: Titles | null; links: Html | null }>> {
  if (view.query.has('contestId')) {
    const contest = await askContest(view)
    return { titles: null, links: contest === null ? null : jsonLinks([['the contest', contest]]) }
  }
  const contests = await askEndpoint(view, 'contests', { query: `status=paying&limit=${PAGE_ROWS_MAX}` })
  return {
    titles: new Map(contests.answer.contests.map(({ id, title }) => [id, title])),
    links: jsonLinks([['the titles of contests', contests]]),
  }
}

/** States of the bar, what can be paid first. */
const SEGMENTS = [
  ['payable', 'payable'],
  ['awaiting_claim', 'claim'],
  ['in_review', 'review'],
  ['locked', 'locked'],
] as const

/** Bar of the total of each state, on all pages; null if only too much was paid. */
function barOf({ totals }: Payouts): Html | null {
  const shown = SEGMENTS.filter(([status]) => isPositive(totals[status]))
  const all = shown.reduce((sum, [status]) => sum + Number(totals[status]), 0)
  if (all === 0) return null
  return segmentBar(
    shown.map(([status, as]): Segment => ({
      share: Number(totals[status]) / all,
      as,
      word: capitalized(stateWords(status)),
      amount: html`<span data-at="/totals/${status}">${amountHtml(totals[status])}</span>`,
    })),
  )
}

/** Note that the totals cover more prizes than the page lists; null if it lists all. */
function partNote(payouts: Payouts, view: View): Html | null {
  if (isWholeList(payouts, view)) return null
  if (payouts.unpaid.length === 0) {
    return html`<p class="lead">
      There are no more unpaid prizes. The totals cover those on the earlier pages.
    </p>`
  }
  return html`<p class="quiet">
    The totals cover all unpaid prizes. This page lists only
    ${view.query.has('after') ? 'some of them' : 'the ones that were won first'}.
    <a href="${payouts.next === null ? '#pages' : pagePathOf(payouts.next)}"
      >${payouts.next === null ? 'Other pages' : 'Next page'}</a
    >.
  </p>`
}

function pagePathOf(next: string): string {
  return next.replace('/api/v1', '')
}

function pager({ next }: Payouts, { query }: View): Html | null {
  const paged = query.has('after')
  if (!paged && next === null) return null
  return html`<nav id="pages" aria-label="Pages of unpaid prizes" class="pager" data-chrome>
    ${paged ? html`<a href="/payouts${query.format({ after: undefined })}">First page</a>` : null}
    ${next === null ? null : html`<a rel="next" href="${pagePathOf(next)}">Next page</a>`}
  </nav>`
}
