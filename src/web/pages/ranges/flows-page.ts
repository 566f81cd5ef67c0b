import type { FlowBucket, Flows } from '../../../protocol/range-resources.ts'
import { BUCKETS } from '../../../protocol/range-resources.ts'
import { amountHtml, amountOrNone } from '../../markup/amount-html.ts'
import { bucketTable, chartGroup } from '../../charts/chart-figure.ts'
import { chartPicture, sourceOf, themeOf } from '../../charts/chart-picture.ts'
import { digitsOf } from '../../markup/chart-scale.ts'
import { burnedPlot, FLOWS, flowsPlot, pricePlot, unfinishedIn } from './flows-chart.ts'
import { flowsPreview } from './flows-preview.ts'
import type { Html } from '../../markup/html.ts'
import { html } from '../../markup/html.ts'
import { bucketOf, momentOf, momentText } from '../../markup/moment-html.ts'
import { plainText } from '../../markup/page-lead.ts'
import type { EndpointPage, View } from '../../frame/page.ts'
import { rangeForm } from './range-form.ts'
import { beforeLaunch, rangePresets } from './range-presets.ts'
import { rangeQuery } from '../../markup/range-query.ts'
import { percentOf } from '../../charts/share.ts'
import { ANSWER_TABLES } from '../../../serve/api/answer-tables.ts'

/** `/flows`: amounts spent, paid and burned in each bucket. */
export const flowsPage: EndpointPage<'flows'> = {
  endpoint: 'flows',
  island: 'chart',
  permalink: (flows) => `/flows?${rangeQuery(flows)}`,
  title: ({ bucket }) => `Flows by ${bucket}`,
  description: (flows, view) => plainText(sentenceOf(flows, view)),
  csv: ANSWER_TABLES.flows,
  svg: pictureOf,
  preview: flowsPreview,
  embedded: (flows) => [
    {
      is: 'frame',
      name: 'The chart in a frame, with a link back',
      path: `/embed/flows?${rangeQuery(flows)}`,
      title: `Flows by ${flows.bucket}`,
      height: 520,
    },
  ],
  render(flows, view) {
    const { site } = view
    return html`
      ${rangePresets(view, flows)} ${rangeForm(view, flows, BUCKETS)}
      ${chartGroup({
        main: flowsPlot(flows, site),
        caption: sentenceOf(flows, view),
        panels: [
          { plot: burnedPlot(flows, site), name: 'Burned', said: null },
          { plot: pricePlot(flows, site), name: `Price of one ${site.token}`, said: null },
        ],
        placement: 'middle',
        table: 'buckets',
        buckets: flows.buckets.length,
      })}
      <p class="quiet" data-at="/from /to">
        From ${momentOf(flows.from)} up to, not including, ${momentOf(flows.to)}. What is paid in prizes
        leaves out refunds and the loyalty reward.
      </p>
      ${beforeLaunch(flows)} ${totalsOf(flows, view)} ${bucketsOf(flows, view)}
    `
  },
}

/** The chart in words: totals of the range, and the bucket in which most was spent. */
function sentenceOf({ totals, buckets, bucket }: Flows, { site }: View): Html {
  const { spentOnPlay, paidInPrizes, burned } = totals
  const share = percentOf(
    { figure: paidInPrizes, pointer: '/totals/paidInPrizes' },
    { figure: spentOnPlay, pointer: '/totals/spentOnPlay' },
  )
  const most = mostSpent(buckets)
  const shown = ['spentOnPlay', 'paidInPrizes', 'burned'].map((key) => `/totals/${key}`).join(' ')
  return html`<span data-at="${shown}"
      >${amountHtml(spentOnPlay)} ${site.token} ${digitsOf(spentOnPlay) === 0n ? 'was' : 'were'} spent on play
      in this range, ${amountHtml(paidInPrizes)} ${site.token} paid in
      prizes${share === null ? null : html` (${share} of it)`} and ${amountHtml(burned)} ${site.token}
      burned.</span
    >
    ${
      most === null
        ? null
        : html`<span data-at="/buckets/${buckets.indexOf(most)}/at"
            >Most was spent ${bucketOf(bucket, most.at)}.</span
          >`
    }`
}

function mostSpent(buckets: readonly FlowBucket[]): FlowBucket | null {
  let most: FlowBucket | null = null
  let digits = 0n
  for (const one of buckets) {
    const spent = digitsOf(one.spentOnPlay)
    if (spent > digits) [most, digits] = [one, spent]
  }
  return most
}

function pictureOf(flows: Flows, view: View): Html {
  const { bucket, asOf, from, to } = flows
  const { site } = view
  return chartPicture(
    {
      title: `Flows by ${bucket}`,
      asOf,
      range: `${momentText(from)} to ${momentText(to)}`,
      ...sourceOf(view),
      growing: unfinishedIn(flows) > 0,
    },
    [flowsPlot(flows, site), burnedPlot(flows, site), pricePlot(flows, site)],
    themeOf(view),
  )
}

function totalsOf({ totals }: Flows, { site }: View): Html {
  return html`<h2>Totals of the range</h2>
    <dl class="figures">
      ${FLOWS.map(
        ({ key, name }) =>
          html`<div>
            <dt>${name}, ${site.token}</dt>
            <dd data-at="/totals/${key}">${amountHtml(totals[key])}</dd>
          </div>`,
      )}
    </dl>`
}

function bucketsOf({ buckets, bucket }: Flows, { site, path, query }: View): Html {
  const columns = [
    { field: 'at', name: 'Begins' },
    ...FLOWS.map(({ key, name }) => ({ field: key, name: `${name}, ${site.token}` })),
    { field: 'tokenPriceUsd', name: `Price of ${site.token} at its end, USD` },
  ]
  return html`<h2>By ${bucket}</h2>
    ${bucketTable(
      { id: 'buckets', name: `Every ${bucket} of the range`, columns, csv: `${path}.csv${query.format()}` },
      buckets,
      (one) =>
        html`<tr>
          <th scope="row">${momentOf(one.at)}${one.complete ? null : html` <em>not over yet</em>`}</th>
          ${FLOWS.map(({ key }) => html`<td class="r">${amountHtml(one[key])}</td>`)}
          <td class="r">${amountOrNone(one.tokenPriceUsd)}</td>
        </tr>`,
    )}`
}
