import type { FundFigures, Funds } from '../../../protocol/range-resources.ts'
import { BUCKETS } from '../../../protocol/range-resources.ts'
import { amountHtml } from '../../markup/amount-html.ts'
import { bucketTable, chartGroup } from '../../charts/chart-figure.ts'
import { linePlot } from '../../charts/chart-line.ts'
import { chartPicture, sourceOf, themeOf } from '../../charts/chart-picture.ts'
import { unfinishedIn } from './flows-chart.ts'
import type { Plot } from '../../charts/chart-plot.ts'
import type { SeriesStyle } from '../../charts/chart-words.ts'
import type { Html } from '../../markup/html.ts'
import { html } from '../../markup/html.ts'
import { momentOf, momentText } from '../../markup/moment-html.ts'
import type { EndpointPage, View } from '../../frame/page.ts'
import { rangeForm } from './range-form.ts'
import { beforeLaunch, rangePresets } from './range-presets.ts'
import { rangeQuery } from '../../markup/range-query.ts'
import { ratioOf } from '../../charts/share.ts'
import type { Site } from '../../markup/site.ts'
import { ANSWER_TABLES } from '../../../serve/api/answer-tables.ts'

type Fund = Readonly<{ key: keyof FundFigures; name: string; explained: string; style: SeriesStyle }>

const FUNDS: readonly Fund[] = [
  { key: 'treasury', name: 'Treasury', explained: 'what the platform holds', style: 1 },
  {
    key: 'prizesNotRedeemed',
    name: 'Prizes not yet redeemed',
    explained: 'won, and not yet paid',
    style: 2,
  },
  { key: 'runningPools', name: 'In the pools of contests', explained: 'still to be won', style: 3 },
  { key: 'loyaltyFund', name: 'Loyalty fund', explained: 'kept for monthly rewards', style: 4 },
]

/** `/funds`: the balance of each fund, now and at the end of each bucket. */
export const fundsPage: EndpointPage<'funds'> = {
  endpoint: 'funds',
  island: 'chart',
  permalink: (funds) => `/funds?${rangeQuery(funds)}`,
  title: () => 'Funds',
  csv: ANSWER_TABLES.funds,
  svg: pictureOf,
  render(funds, view) {
    return html`
      ${coverageOf(funds)} ${nowOf(funds, view)}
      <h2>History by ${funds.bucket}</h2>
      ${rangePresets(view, funds)} ${rangeForm(view, funds, BUCKETS)}
      ${chartGroup({
        main: null,
        caption: sentenceOf(funds, view),
        panels: panelsOf(funds, view.site).map((plot) => ({ plot, name: plot.title, said: null })),
        placement: 'end',
        table: 'buckets',
        buckets: funds.buckets.length,
      })}
      ${beforeLaunch(funds)} ${bucketsOf(funds, view)}
    `
  },
}

/** Ratio of the treasury to unpaid prizes. */
function coverageOf({ now }: Funds): Html {
  const ratio = ratioOf(
    { pointer: '/now/treasury', figure: now.treasury },
    { pointer: '/now/prizesNotRedeemed', figure: now.prizesNotRedeemed },
  )
  if (ratio === null) return html`<p class="lead">No prize is waiting to be redeemed now.</p>`
  return html`<p class="lead">
      The treasury holds ${ratio} times the prizes that are won and not yet redeemed.
    </p>
    <p class="quiet">Treasury divided by prizes not yet redeemed, cut off after one decimal.</p>`
}

function nowOf({ now }: Funds, { site }: View): Html {
  return html`<h2>Now</h2>
    <dl class="figures">
      ${FUNDS.map(
        ({ key, name, explained }) =>
          html`<div>
            <dt>${name}, ${site.token}</dt>
            <dd data-at="/now/${key}">${amountHtml(now[key])}</dd>
            <dd class="beside">${explained}</dd>
          </div>`,
      )}
    </dl>`
}

/** Balances at the start and the end of the range, in words. */
function sentenceOf({ buckets, bucket }: Funds, { site }: View): Html {
  const first = buckets[0]
  const last = buckets.at(-1)
  if (first === undefined || last === undefined || first === last) return html`One ${bucket} is shown.`
  const ends = [0, buckets.length - 1]
  const shown = ['treasury', 'prizesNotRedeemed'].flatMap((key) =>
    ends.map((end) => `/buckets/${end}/${key}`),
  )
  return html`<span data-at="${shown.join(' ')}"
      >Between the end of the first ${bucket} shown and the end of the last, the treasury went from
      ${amountHtml(first.treasury)} to ${amountHtml(last.treasury)} ${site.token}, prizes not yet redeemed
      from ${amountHtml(first.prizesNotRedeemed)} to ${amountHtml(last.prizesNotRedeemed)}
      ${site.token}.</span
    >
    Each fund has an axis of its own.`
}

/** A plot for each fund over the same time. They are not stacked, since they are different things. */
function panelsOf(funds: Funds, { token }: Site): readonly Plot[] {
  const { fromMs, toMs, bucket, buckets } = funds
  const starts = buckets.map(({ at }) => at)
  return FUNDS.map(({ key, name, style }) => {
    const line = {
      name: `${name}, ${token}`,
      style,
      drawn: 'area',
      figures: buckets.map((one) => one[key]),
    } as const
    return linePlot({
      id: `fund-${key}`,
      title: line.name,
      fromMs,
      toMs,
      bucket,
      starts,
      unfinished: unfinishedIn(funds),
      placement: 'end',
      series: [line],
      size: 'short',
      dated: true,
    })
  })
}

function pictureOf(funds: Funds, view: View): Html {
  const { bucket, asOf, from, to } = funds
  const panels = panelsOf(funds, view.site)
  return chartPicture(
    {
      title: `Funds by ${bucket}`,
      asOf,
      range: `${momentText(from)} to ${momentText(to)}`,
      ...sourceOf(view),
      growing: unfinishedIn(funds) > 0,
    },
    // Only the last plot has dates under it.
    panels.map((plot, index) => ({ ...plot, dated: index === panels.length - 1 })),
    themeOf(view),
  )
}

function bucketsOf({ buckets, bucket }: Funds, { site, path, query }: View): Html {
  const columns = [
    { field: 'at', name: `Balances at the end of the ${bucket} from` },
    ...FUNDS.map(({ key, name }) => ({ field: key, name: `${name}, ${site.token}` })),
  ]
  return bucketTable(
    { id: 'buckets', name: `Every ${bucket} of the range`, columns, csv: `${path}.csv${query.format()}` },
    buckets,
    (one) =>
      html`<tr>
        <th scope="row">${momentOf(one.at)}${one.complete ? null : html` <em>not over yet</em>`}</th>
        ${FUNDS.map(({ key }) => html`<td class="r">${amountHtml(one[key])}</td>`)}
      </tr>`,
  )
}
