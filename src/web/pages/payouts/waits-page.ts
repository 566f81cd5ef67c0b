import type { WaitFigures, Waits } from '../../../protocol/endpoints/figure-endpoints.ts'
import { answerTable } from '../../../serve/api/answer-tables.ts'
import type { EndpointPage, View } from '../../frame/page.ts'
import { countHtml } from '../../markup/amount-html.ts'
import { figures, sectionHead, type Segment, segmentBar } from '../../markup/book.ts'
import { contestLink } from '../../markup/contest-name.ts'
import { type Html, html } from '../../markup/html.ts'
import { kindName } from '../../markup/kind-words.ts'
import { nearMoment, rangeEnd, spanFrom } from '../../markup/moment-html.ts'
import { plainText } from '../../markup/page-lead.ts'
import { monthLinks } from '../ranges/month-links.ts'
import { dateFields, dateFold } from '../ranges/range-controls.ts'
import { within } from './wait-words.ts'

/** `/waits`: how long contests took from their close until they were paid. */
export const waitsPage: EndpointPage<'waits'> = {
  endpoint: 'waits',
  permalink: ({ from, to }) => `/waits?from=${from}&to=${to}`,
  title: () => 'How long until prizes are paid',
  description: (waits) => `${plainText(headlineOf(waits))}.`,
  csv: (answer) => answerTable('waits', answer),
  heading: (waits) => html`<h1>${headlineOf(waits)}</h1>`,
  render: (waits, view) =>
    html`${leadOf(waits)} ${controlsOf(waits, view)} ${timesOf(waits)} ${resultsOf(waits, view)}
    ${kindTable(waits, view)}`,
}

function headlineOf({ contests, all }: Waits): Html {
  if (contests.closed === 0) return html`No contest closed in these days`
  if (all.p50Ms === null) return html`No contest that closed in these days is paid in full yet`
  return html`Half of the paid contests were paid within ${within('/all/p50Ms', all.p50Ms)}`
}

/** Months and dates of the closes, in one row. */
function controlsOf(waits: Waits, view: View): Html {
  const { path, query } = view
  const { tabs, names, pager } = monthLinks(view, waits)
  return html`<div class="controls" data-chrome>
      ${tabs}
      <form method="get" action="${path}">
        ${dateFold(
          'Other dates',
          names,
          html`${dateFields(query)} <button>Show</button> <a href="${path}">The last 90 days</a>`,
        )}
      </form>
    </div>
    ${pager}`
}

function leadOf({ from, to }: Waits): Html {
  return html`<p class="lead">
    Of the contests that closed from <span data-at="/from">${rangeEnd(from)}</span> up to
    <span data-at="/to">${rangeEnd(to)}</span>, UTC. A time is from the close of a contest until all its
    prizes were paid.
  </p>`
}

/** Results of a contest, each with its colour and word. */
const RESULTS = [
  ['paid', 'paid', 'Paid in full'],
  ['waiting', 'payable', 'Not paid in full yet'],
  ['expired', 'expired', 'Settled, some prizes never claimed'],
  ['cancelled', 'locked', 'Cancelled'],
] as const satisfies readonly (readonly [keyof Waits['contests'], Segment['as'], string])[]

/** Contests by what became of them, and the one that has waited longest; null without contests. */
function resultsOf({ contests, all }: Waits, view: View): Html | null {
  if (contests.closed === 0) return null
  const shown = RESULTS.filter(([result]) => contests[result] > 0)
  return html`<section>
    ${sectionHead('What became of them', html`<span><span data-at="/contests/closed">${countHtml(contests.closed)}</span> contests</span>`)}
    ${segmentBar(
      shown.map(([result, as, word]): Segment => ({
        share: contests[result] / contests.closed,
        as,
        word,
        amount: html`<span data-at="/contests/${result}">${countHtml(contests[result])}</span>`,
      })),
    )}
    ${oldestOf(all, view)}
  </section>`
}

/** Times of all paid contests; null when none is paid. */
function timesOf({ all: { p50Ms, p90Ms, maxMs } }: Waits): Html | null {
  if (p50Ms === null || p90Ms === null || maxMs === null) return null
  return figures([
    { label: 'Half were paid within', figure: within('/all/p50Ms', p50Ms) },
    { label: 'Nine of ten within', figure: within('/all/p90Ms', p90Ms) },
    { label: 'All within', figure: within('/all/maxMs', maxMs) },
  ])
}

/** Contest that has waited longest; null when none waits. */
function oldestOf({ oldest }: WaitFigures, view: View): Html | null {
  if (oldest === null) return null
  const { contestId, closedAt } = oldest
  return html`<p>
    <span data-at="/all/oldest/contestId">${contestLink(contestId, null)}</span> has waited longest of those
    that are not paid in full: it closed
    <span data-at="/all/oldest/closedAt">${nearMoment(closedAt, view)}</span>,
    <span data-at="/all/oldest/closedAt">${spanFrom(closedAt, view)}</span> ago. Its page says what it waits
    for.
  </p>`
}

/** Times by kind of prize; null without prizes. */
function kindTable({ kinds }: Waits, { path, query }: View): Html | null {
  if (kinds.length === 0) return null
  const time = (pointer: string, ms: number | null): Html =>
    ms === null ? html`<span class="none">none paid</span>` : within(pointer, ms)
  return html`<section>
    ${sectionHead('By kind of prize', html`<span>from the close to the last payment of the kind</span>`)}
    <div class="wide" role="region" aria-label="Times by kind of prize" tabindex="0">
      <table class="cards pairs" data-list="/kinds">
        <thead>
          <tr>
            <th scope="col" data-field="kind">Prize</th>
            <th scope="col" class="r">Half within</th>
            <th scope="col" class="r">Nine of ten within</th>
            <th scope="col" class="r">All within</th>
            <th scope="col" class="r" data-field="paid">Contests paid</th>
            <th scope="col" class="r" data-field="waiting">Still waiting</th>
          </tr>
        </thead>
        <tbody>
          ${kinds.map(
            ({ kind, p50Ms, p90Ms, maxMs, paid, waiting }, row) =>
              html`<tr>
                <th scope="row" class="all">${kindName(kind)}</th>
                <td class="r" data-label="Half within">${time(`/kinds/${row}/p50Ms`, p50Ms)}</td>
                <td class="r" data-label="Nine of ten within">${time(`/kinds/${row}/p90Ms`, p90Ms)}</td>
                <td class="r" data-label="All within">${time(`/kinds/${row}/maxMs`, maxMs)}</td>
                <td class="r" data-label="Contests paid">${countHtml(paid)}</td>
                <td class="r" data-label="Still waiting">${countHtml(waiting)}</td>
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
    <p class="source" data-chrome><a href="${path}.csv${query.format()}">This table as CSV</a>.</p>
  </section>`
}
