import { boundOf, DAY_MS, floorTo, formatAt, MINUTE_MS } from '../../../protocol/moment.ts'
import { ENDPOINT_PATHS } from '../../../protocol/paths.ts'
import type { Flows, Summary } from '../../../protocol/endpoints/figure-endpoints.ts'
import type { Contest, Payouts } from '../../../protocol/endpoints/contest-endpoints.ts'
import type { EventsPage } from '../../../protocol/endpoints/event-endpoints.ts'
import { askEndpoint, jsonLinks } from '../../frame/linked-answers.ts'
import type { EndpointPage, LinkedAnswer, View } from '../../frame/page.ts'
import { PAGE_ROWS_MAX } from '../../frame/page-rows.ts'
import { asOfLine } from '../../frame/state-line.ts'
import { sectionHead } from '../../markup/book.ts'
import { type Html, html } from '../../markup/html.ts'
import { plainText } from '../../markup/page-lead.ts'
import { askReopened } from '../contests/reopened.ts'
import { askSuggested, searchBox } from '../find/search-box.ts'
import { rangeHtml } from '../ranges/range-words.ts'
import { dailyFlows } from '../ranges/flows-chart.ts'
import { askFlows } from './summary-figures.ts'
import { askCancellations, cancelledNote, hasCancelled } from './cancelled-contests.ts'
import { summaryPage } from './summary-page.ts'
import { fourFigures, totalsAside } from './today-figures.ts'
import { askTitles, newestPayments } from './today-lines.ts'
import { closingNext, openingNext } from './today-next.ts'
import { proofStrip } from './today-proof.ts'
import { askUnpaidTotals, headline, unpaidSentence } from './today-top.ts'

const PAYMENTS_SHOWN = 7
const NEXT_SHOWN = 3

/** `/`: today's answers to a player, from the summary and the answers that the page links. */
export const todayPage: EndpointPage<'summary'> = {
  ...summaryPage,
  path: '/',
  island: 'frame',
  async title(summary, view) {
    const payouts = await askUnpaidTotals(view)
    const reopened = await askReopened(summary.contests, view)
    const cancelled = await askCancellations(summary, view)
    return plainText(headline(summary, view.site, { payouts, reopened }, hasCancelled(cancelled)))
  },
  // The content has the heading, beside the contests that close next.
  heading: () => html``,
  description: () => null,
  // The past has a page of its own.
  redirect: ({ query }) => Promise.resolve(query.has('at') ? `/summary${query.format()}` : null),
  async render(summary, view) {
    const payouts = await askEndpoint(view, 'payouts', { query: `limit=${PAGE_ROWS_MAX}` })
    const reopened = await askReopened(summary.contests, view)
    const cancelled = await askCancellations(summary, view)
    const closing = await askEndpoint(view, 'contests', {
      query: `status=running&sort=closesAt&limit=${NEXT_SHOWN}`,
    })
    const suggested = await askSuggested(view)
    const schedule = await askEndpoint(view, 'schedule')
    const dayBefore = await askDayBefore(summary, view)
    const flows = await askFlows(summary, view)
    const payments = await askPayments(summary, view)
    const titles = await askTitles(payments.answer.events, view)
    const proof = await proofStrip(view)
    const top = html`<div class="two today">
      <section>
        <h1>${headline(summary, view.site, { payouts, reopened }, hasCancelled(cancelled))}</h1>
        ${cancelledNote(summary, cancelled)} ${unpaidSentence(summary, payouts, view)}
        ${searchBox(suggested.answer)}
      </section>
      <aside aria-label="Closing next">${closingNext(closing, summary, view)}</aside>
    </div>`
    return html`${top} ${numbers(summary, { payouts, payments, flows, dayBefore }, view)}
      <div class="two">
        <section>
          ${sectionHead('Newest payments', html`<a href="/events?type=payout&order=desc">All payments</a>`)}
          ${newestPayments(payments, titles, view)}
        </section>
        <aside aria-label="Opening next">${openingNext(schedule, NEXT_SHOWN, view)}</aside>
      </div>
      ${proof}
      ${jsonLinks([
        ['unpaid prizes', payouts],
        ...(reopened === null ? [] : [['unpaid of contests that had been settled', reopened] as const]),
        ...(cancelled === null || !hasCancelled(cancelled)
          ? []
          : [['cancelled contests', cancelled] as const]),
        ['closing next', closing],
        ['opening next', schedule],
        ['suggested titles', suggested],
        ['the chart', flows],
        ['payments', payments],
        ...(proof === null
          ? []
          : [['checkpoint', { address: ENDPOINT_PATHS.logCheckpoint, answer: null }] as const]),
        ...(dayBefore === null ? [] : [['a day before', dayBefore] as const]),
        ...[...titles.values()].map((contest) => [contestNumber(contest), contest] as const),
      ])}`
  },
}

function contestNumber({ answer, address }: LinkedAnswer<Contest>): Html {
  return html`contest <span data-at="${address}#/id">${answer.id}</span>`
}

/**
 * The summary of a day before now; null on an empty log. Counted from the present minute, for which the page is
 * rendered, since a day before the newest event is any day once the log is silent.
 */
async function askDayBefore({ asOf }: Summary, view: View): Promise<LinkedAnswer<Summary> | null> {
  if (asOf.atMs === null) return null
  const at = formatAt(boundOf(Math.max(0, floorTo(view.now, MINUTE_MS) - DAY_MS)))
  return askEndpoint(view, 'summary', { query: `at=${at}` })
}

/** The newest payments that the summary counts. */
function askPayments({ asOf }: Summary, view: View): Promise<LinkedAnswer<EventsPage>> {
  const before = asOf.seq === 0 ? '' : `&before=${asOf.seq + 1}`
  return askEndpoint(view, 'events', { query: `type=payout&order=desc${before}&limit=${PAYMENTS_SHOWN}` })
}

type Asked = Readonly<{
  payouts: LinkedAnswer<Payouts>
  payments: LinkedAnswer<EventsPage>
  flows: LinkedAnswer<Flows>
  dayBefore: LinkedAnswer<Summary> | null
}>

/** The four figures, the state, and the totals beside the chart. Nothing on an empty log. */
function numbers(summary: Summary, asked: Asked, view: View): Html {
  if (asked.dayBefore === null) return asOfLine(summary.asOf, view)
  return html`${fourFigures(summary, { ...asked, dayBefore: asked.dayBefore }, view)}
    ${asOfLine(summary.asOf, view)}
    <div class="two">
      <section>
        ${sectionHead(rangeHtml(asked.flows.answer, `${asked.flows.address}#`), html`<a href="/flows">All of it</a>`)}
        ${dailyFlows(asked.flows, view.site)}
      </section>
      ${totalsAside(summary, view)}
    </div>`
}
