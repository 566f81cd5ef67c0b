import { keysOf } from '../../../protocol/brand.ts'
import type { FlowFigures, Flows } from '../../../protocol/endpoints/figure-endpoints.ts'
import { amountHtml, exactAmount, headlineAmount, isPositive, priceHtml } from '../../markup/amount-html.ts'
import { facts } from '../../markup/book.ts'
import { bucketTables, chartGroup } from '../../charts/chart-figure.ts'
import { chartPicture } from '../../charts/chart-picture.ts'
import { greatestIndex } from '../../markup/chart-scale.ts'
import { burnedPlot, FLOW_NAMES, FLOWS, flowsPlot, pricePlot, unfinishedIn } from './flows-chart.ts'
import { type Html, html } from '../../markup/html.ts'
import { bucketOf, bucketStart, momentText, rangeEnd } from '../../markup/moment-html.ts'
import { type LinkPreview, previewDate } from '../../preview/link-preview.ts'
import { drawableToken } from '../../preview/preview-font.ts'
import { plainText } from '../../markup/page-lead.ts'
import type { EndpointPage, View } from '../../frame/page.ts'
import { balanceSheet } from './balance-sheet.ts'
import { kindTables } from './kind-tables.ts'
import { monthLinks } from './month-links.ts'
import { beforeLaunch, kindQuery, rangeControls, rangeQuery } from './range-controls.ts'
import { capitalized } from '../../markup/prose.ts'
import { rangeHtml, rangeName } from './range-words.ts'
import { answerTable } from '../../../serve/api/answer-tables.ts'
import { percentOf } from '../../markup/derived.ts'

/** `/flows`: amounts spent, paid and burned in each bucket. */
export const flowsPage: EndpointPage<'flows'> = {
  endpoint: 'flows',
  island: 'chart',
  permalink: (flows, { query }) => `/flows?${rangeQuery(flows)}${kindQuery(query)}`,
  title: (flows, view) => `Money by ${flows.bucket}${monthLinks(view, flows).titled}`,
  description: (flows, view) => plainText(sentenceOf(flows, view)),
  csv: (answer) => answerTable('flows', answer),
  svg: pictureOf,
  preview: previewOf,
  heading: (flows, view) => html`<h1>${sentenceOf(flows, view)}</h1>`,
  async render(flows, view) {
    const { bucket, buckets } = flows
    const { site, path, query } = view
    const sheet = await balanceSheet(flows, view)
    // A reader who has chosen a range wants its figures first.
    const isChosen = ['from', 'to', 'bucket', 'by'].some((name) => query.has(name))
    return html`
      ${isChosen ? null : sheet} ${rangeControls(view, flows)}
      ${chartGroup({
        main: flowsPlot(flows, site),
        caption: captionOf(flows, view),
        panels: [
          { plot: burnedPlot(flows, site), name: 'Burned', said: burnedOf(flows, view) },
          { plot: pricePlot(flows, site), name: `Price of one ${site.token}`, said: priceOf(flows) },
        ],
        placement: 'middle',
        page: path,
        range: flows,
      })}
      ${beforeLaunch(flows)} ${kindTables(flows, view)}
      <div class="two">
        ${bucketTables({
          bucket,
          buckets,
          columns: [
            ...FLOWS.map(({ key, name }) => ({ field: key, name })),
            { field: 'tokenPriceUsd', name: 'Price, USD', wideOnly: true },
          ],
          note: `${site.token}, newest first`,
          csv: `${path}.csv${query.format()}`,
          figureOf: (one, field) =>
            field === 'tokenPriceUsd' ? priceOrNone(one.tokenPriceUsd) : amountHtml(one[flowKey(field)]),
        })}
        ${totalsOf(flows, view)}
      </div>
      ${isChosen ? sheet : null}
    `
  },
}

/** Link preview of a range, such as a month, with its prizes. That of a finished range never changes. */
function previewOf(flows: Flows, { site }: View): LinkPreview {
  const paid = plainText(headlineAmount(flows.totals.paidInPrizes))
  const until = unfinishedIn(flows) > 0 ? flows.asOf.at : flows.to
  return {
    headline: rangeName(flows).words,
    figure: `${paid} ${drawableToken(site)} paid in prizes`,
    date: previewDate(until ?? flows.to),
  }
}

function flowKey(field: string): keyof FlowFigures {
  return FLOWS.find(({ key }) => key === field)?.key ?? 'spentOnPlay'
}

function priceOrNone(price: string | null): Html {
  return price === null ? html`<span class="none">not known</span>` : priceHtml(price)
}

/** Name of the range within a sentence: `in October 2026`. */
function inRange(flows: Flows): Html {
  return html`${rangeName(flows).before} ${rangeHtml(flows)}`
}

/** The answer in two sentences: spending, and the part of it that was paid in prizes. */
function sentenceOf(flows: Flows, { site }: View): Html {
  const { spentOnPlay, paidInPrizes } = flows.totals
  const range = html`${capitalized(rangeName(flows).before)} ${rangeHtml(flows)}`
  const paid = html`<span data-at="/totals/paidInPrizes">${headlineAmount(paidInPrizes)}</span> ${site.token}`
  if (!isPositive(spentOnPlay)) {
    const and = isPositive(paidInPrizes) ? html` ${paid} were paid in prizes.` : null
    return html`${range} nothing was spent on play.${and}`
  }
  const share = percentOf(
    { figure: paidInPrizes, pointer: '/totals/paidInPrizes' },
    { figure: spentOnPlay, pointer: '/totals/spentOnPlay' },
  )
  const spent = html`<span data-at="/totals/spentOnPlay">${headlineAmount(spentOnPlay)}</span>`
  return html`${range} players spent ${spent} ${site.token}. ${share} of that was paid in prizes.`
}

/** Caption of the chart, with links to the payments of its highest bar and to the amounts by kind. */
function captionOf(flows: Flows, { site, path, query }: View): Html {
  const { buckets, bucket, toMs } = flows
  const most = greatestIndex(buckets.map(({ paidInPrizes }) => paidInPrizes))
  const shown = most === null ? undefined : buckets[most]
  const next = most === null ? undefined : buckets[most + 1]
  const end = next === undefined ? new Date(toMs).toISOString() : next.at
  const payments =
    shown === undefined
      ? null
      : html` Most was paid
          <span data-at="/buckets/${most ?? 0}/at">${whenOf(flows, shown.at)}</span>:
          <a href="/events?from=${shown.at}&to=${end}&type=payout">its payments</a>.`
  const pale = unfinishedIn(flows) > 0 ? ` Pale: ${PALE[bucket]}, not over yet.` : null
  const kinds = query.has('by')
    ? null
    : html` <a href="${path}${query.format({ by: 'kind' })}#kinds">By kind of play and prize</a>.`
  return html`${site.token} ${bucket === 'hour' ? 'an' : 'a'} ${bucket}, UTC. The line is what players spent,
  the bars what was paid in prizes; refunds and the loyalty reward are not counted.${payments}${pale}${kinds}`
}

const PALE = {
  minute: 'this minute',
  hour: 'this hour',
  day: 'today',
  week: 'this week',
  month: 'this month',
} as const

/** A bucket in a sentence: `on 3 Oct 2026`, or `in the hour from 3 Oct 14:00`. */
function whenOf({ bucket, to }: Flows, at: string): Html {
  return bucket === 'hour' || bucket === 'minute'
    ? html`in the ${bucket} from ${bucketStart(bucket, at, to)}`
    : bucketOf(bucket, at)
}

function burnedOf(flows: Flows, { site }: View): Html {
  return html`<span data-at="/totals/burned">${amountHtml(flows.totals.burned)}</span> ${site.token}
    ${inRange(flows)}`
}

/** The last known price; null if there is none. */
function priceOf(flows: Flows): Html | null {
  const { buckets } = flows
  const index = buckets.findLastIndex(({ tokenPriceUsd }) => tokenPriceUsd !== null)
  const price = buckets[index]?.tokenPriceUsd ?? null
  return price === null
    ? null
    : html`<span data-at="/buckets/${index}/tokenPriceUsd">$${priceHtml(price)}</span>
        ${unfinishedIn(flows) > 0 ? 'now' : 'at the end'}`
}

function pictureOf(flows: Flows, view: View): Html {
  const { bucket, asOf, from, to } = flows
  const { site } = view
  return chartPicture(
    {
      title: `Money by ${bucket}`,
      asOf,
      range: `${momentText(from)} to ${momentText(to)}`,
      growing: unfinishedIn(flows) > 0,
    },
    [flowsPlot(flows, site), burnedPlot(flows, site), pricePlot(flows, site)],
    view,
  )
}

/** Exact sums of the range, and the files with all of it. */
function totalsOf(flows: Flows, { path, query }: View): Html {
  const { totals, buckets } = flows
  const rows = buckets.length === 1 ? 'one row' : `${buckets.length} rows`
  return html`<aside>
    <h2>In all, ${rangeHtml(flows)}</h2>
    ${facts(
      keysOf(FLOW_NAMES).map((key) => [
        FLOW_NAMES[key],
        html`<span data-at="/totals/${key}">${exactAmount(totals[key])}</span>`,
      ]),
    )}
    <p class="quiet" data-at="/from /to">
      From ${rangeEnd(flows.from)} up to, not including, ${rangeEnd(flows.to)}, UTC.
    </p>
    <p class="quiet">All decimals are here, in the JSON and in the CSV.</p>
    <p class="buttons" data-chrome>
      <a class="button" href="${path}.csv${query.format()}">CSV, ${rows}</a>
      <a class="button" href="${path}.svg${query.format()}">Chart as SVG</a>
    </p>
  </aside>`
}
