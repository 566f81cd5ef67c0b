import type { EventWire } from '../../../protocol/event.ts'
import type { Summary } from '../../../protocol/resources.ts'
import { eventLink } from '../../markup/amount-html.ts'
import { summaryPreview } from './summary-preview.ts'
import type { Html } from '../../markup/html.ts'
import { html } from '../../markup/html.ts'
import { momentOf } from '../../markup/moment-html.ts'
import { firstEvent } from '../../frame/linked-answers.ts'
import type { EndpointPage, View } from '../../frame/page.ts'
import type { Site } from '../../markup/site.ts'
import { askEarlier, headlines } from './summary-figures.ts'
import { flowsChart, flowsPicture } from './summary-flows.ts'
import { verifyLink, newestEvents, currentContests } from './summary-now.ts'
import { timeTravel } from './summary-travel.ts'
import type { AnswerTable } from '../../../serve/http/csv.ts'

/** `/summary`: the headline figures, now or as of a past moment. */
export const summaryPage: EndpointPage<'summary'> = {
  endpoint: 'summary',
  linksFeed: true,
  asksMore: true,
  island: 'summary',
  // The permalink of the present is the moment of its last event.
  permalink: ({ asOf }, { query }) =>
    query.has('at') || asOf.at === null ? `/summary${query.format()}` : `/summary?at=${asOf.at}`,
  title: (_, { query }) => (query.has('at') ? 'Summary of a past moment' : 'Summary'),
  description: (summary, { site }) => (summary.asOf.seq === 0 ? null : figuresIn(summary, site)),
  csv: tableOf,
  svg: flowsPicture,
  preview: summaryPreview,
  // An embedded picture stays up to date; a permalink does not.
  picturePage: (_, { query }) => `/summary${query.format()}`,
  async render(summary, view) {
    const first = (await firstEvent(view))?.answer ?? null
    const before = await askEarlier(summary, view)
    const present = !view.query.has('at')
    return html`${nothingYet(summary, first)} ${headlines(summary, before, view)}
    ${timeTravel(summary, first, before, view)} ${before === null ? null : flowsChart(before.flows, view)}
    ${present ? await currentContests(summary, view) : correctionsSince(summary, view)}
    ${await newestEvents(summary, view)} ${verifyLink(view)}`
  },
}

/** Link-preview text: the main figures in a sentence. */
function figuresIn({ asOf, ...figures }: Summary, { token }: Site): string {
  const { spentOnPlay, paidInPrizes, prizesNotRedeemed, treasury } = figures
  return `${spentOnPlay} ${token} spent on play, ${paidInPrizes} ${token} paid in prizes, ${prizesNotRedeemed} ${token} won and not yet redeemed, ${treasury} ${token} in the treasury, up to event #${asOf.seq}.`
}

/** `/`: the same page. */
export const homePage: EndpointPage<'summary'> = { ...summaryPage, path: '/' }

function nothingYet({ asOf }: Summary, first: EventWire | null): Html | null {
  if (asOf.seq > 0) return null
  if (first === null) {
    return html`<p class="lead">
      The book is open and its first page is blank: nothing has happened yet. This page will show it as it
      does.
    </p>`
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
      This is the state of that moment as it was known at that moment. What was corrected later is not applied
      here: a correction counts at its own moment.${since}
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
