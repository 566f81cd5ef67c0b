import type { EventWire } from '../../../protocol/event.ts'
import type { Summary } from '../../../protocol/endpoints/figure-endpoints.ts'
import type { AnswerTable } from '../../../serve/http/csv.ts'
import { firstEvent } from '../../frame/linked-answers.ts'
import type { EndpointPage, View } from '../../frame/page.ts'
import { asOfLine } from '../../frame/state-line.ts'
import { amountHtml, countHtml, eventLink, headlineAmount, isPositive } from '../../markup/amount-html.ts'
import { type Html, html } from '../../markup/html.ts'
import { longMomentText, momentOf } from '../../markup/moment-html.ts'
import { plainText } from '../../markup/page-lead.ts'
import type { Site } from '../../markup/site.ts'
import { waitingSum } from '../../markup/waiting-sum.ts'
import { type LinkPreview, previewDate } from '../../preview/link-preview.ts'
import { drawableToken } from '../../preview/preview-font.ts'
import { askReopened } from '../contests/reopened.ts'
import { askCancellations, hasCancelled } from './cancelled-contests.ts'
import { askUnpaidTotals, headline } from './today-top.ts'
import { askEarlier, figureTable } from './summary-figures.ts'
import { flowsPicture } from './summary-flows.ts'
import { timeTravel } from './summary-travel.ts'

/** `/summary`: every figure of the summary in a table, now or as of a past moment. */
export const summaryPage: EndpointPage<'summary'> = {
  endpoint: 'summary',
  linksFeed: true,
  asksMore: true,
  island: 'summary',
  // The permalink of the present is the moment of its last event.
  permalink: ({ asOf }, { query }) =>
    query.has('at') || asOf.at === null ? `/summary${query.format()}` : `/summary?at=${asOf.at}`,
  title: (_, { query }) => {
    const at = query.time('at')
    return at === undefined ? 'Every figure' : `Every figure at ${longMomentText(at)}`
  },
  description: (summary, { site }) => (summary.asOf.seq === 0 ? null : figuresIn(summary, site)),
  csv: tableOf,
  svg: flowsPicture,
  preview: previewOf,
  async render(summary, view) {
    const first = (await firstEvent(view))?.answer ?? null
    const before = await askEarlier(summary, view)
    return html`${nothingYet(summary, first)} ${asOfLine(summary.asOf, view)}
      <div class="two">
        <section>${figureTable(summary, before, view)}</section>
        <aside aria-label="Other moments">
          ${timeTravel(summary, first, before, view)}
          ${view.query.has('at') ? correctionsSince(summary, view) : null}
        </aside>
      </div>`
  },
}

/** Link preview of the start page: how many closed contests are settled, and what still waits. */
async function previewOf(summary: Summary, view: View): Promise<LinkPreview> {
  const { asOf, contests, paidInPrizes } = summary
  const token = drawableToken(view.site)
  const cancelled = hasCancelled(await askCancellations(summary, view))
  const date = asOf.at === null ? 'Nothing is published yet' : previewDate(asOf.at)
  if (view.query.has('at')) {
    // The summary of a past moment does not tell what of its unpaid prizes waited.
    const paid = plainText(headlineAmount(paidInPrizes))
    return {
      headline: plainText(headline(summary, { token }, null, cancelled)),
      figure: `${paid} ${token} paid in prizes`,
      date,
    }
  }
  const payouts = await askUnpaidTotals(view)
  const reopened = await askReopened(contests, view)
  const waits = waitingSum(payouts).figure
  return {
    headline: plainText(headline(summary, { token }, { payouts, reopened }, cancelled)),
    figure: isPositive(waits)
      ? `${plainText(headlineAmount(waits))} ${token} of prizes still wait`
      : 'No prize is waiting to be paid',
    date,
  }
}

/** Link-preview text: the main figures in a sentence. */
function figuresIn({ asOf, ...figures }: Summary, { token }: Site): string {
  const { spentOnPlay, paidInPrizes, prizesNotRedeemed, treasury } = figures
  return plainText(
    html`${amountHtml(spentOnPlay)} ${token} spent on play, ${amountHtml(paidInPrizes)} ${token} paid in
    prizes, ${amountHtml(prizesNotRedeemed)} ${token} won and not yet paid, ${amountHtml(treasury)} ${token}
    in the treasury, up to event ${countHtml(asOf.seq)}.`,
  )
}

function nothingYet({ asOf }: Summary, first: EventWire | null): Html | null {
  if (asOf.seq > 0) return null
  if (first === null) {
    return html`<p class="lead">Nothing has happened yet. This page shows each figure as it changes.</p>`
  }
  const pointer = '/api/v1/events/1#'
  return html`<p class="lead" data-at="${pointer}/seq ${pointer}/at">
    At that moment nothing had been published. The first event is ${eventLink(first.seq)}, of
    ${momentOf(first.at)};
    <a href="/summary?at=${first.at}">see the state after it</a>.
    <a data-json href="/api/v1/events/1">JSON of the first event</a>
  </p>`
}

function correctionsSince({ asOf }: Summary, { paths }: View): Html {
  const since = paths.has('/events')
    ? html` <a href="/events?after=${asOf.seq}&type=correction">See what was corrected since</a>.`
    : null
  return html`<h2>As it was known then</h2>
    <p>
      These figures are as they were known at that moment. Later corrections are not applied: each counts at
      its own moment.${since}
    </p>`
}

/** One row. Names of nested fields are their paths, such as `asOf.seq`. */
function tableOf({ asOf, contests, ...figures }: Summary): AnswerTable {
  const cells = [
    ...Object.entries(asOf).map(([name, cell]) => [`asOf.${name}`, cell] as const),
    ...Object.entries(contests).map(([name, cell]) => [`contests.${name}`, cell] as const),
    ...Object.entries(figures),
  ]
  return { columns: cells.map(([name]) => name), rows: [cells.map(([, cell]) => cell)], next: null }
}
