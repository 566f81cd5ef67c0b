import type { Summary } from '../../../protocol/resources.ts'
import type { Flows } from '../../../protocol/range-resources.ts'
import { amountHtml } from '../../markup/amount-html.ts'
import { chartPicture, sourceOf, themeOf } from '../../charts/chart-picture.ts'
import { flowsPlot, ninetyDays, unfinishedIn } from '../ranges/flows-chart.ts'
import type { LinkedAnswer } from '../../frame/linked-answers.ts'
import type { Html } from '../../markup/html.ts'
import { html } from '../../markup/html.ts'
import { momentText } from '../../markup/moment-html.ts'
import type { View } from '../../frame/page.ts'
import { askFlows } from './summary-figures.ts'

/** Chart of the flows as a picture. Without events it shows zeros up to now. */
export async function flowsPicture(summary: Summary, view: View): Promise<Html> {
  const { answer } = await askFlows(summary, view)
  return chartPicture(
    {
      title: 'Flows by day',
      asOf: summary.asOf,
      range: `${momentText(answer.from)} to ${momentText(answer.to)}`,
      ...sourceOf(view),
      growing: unfinishedIn(answer) > 0,
    },
    [flowsPlot(answer, view.site)],
    themeOf(view),
  )
}

/** Chart of the flows of the thirty days before a summary. */
export function flowsChart(flows: LinkedAnswer<Flows>, { site, paths }: View): Html {
  const { answer, address } = flows
  const { spentOnPlay, paidInPrizes, burned } = answer.totals
  const page = address.slice('/api/v1'.length)
  const totals = ['spentOnPlay', 'paidInPrizes', 'burned'].map((key) => `${address}#/totals/${key}`)
  return html`<h2>Thirty days</h2>
    <p data-at="${totals.join(' ')}">
      ${amountHtml(spentOnPlay)} ${site.token} spent on play, ${amountHtml(paidInPrizes)} ${site.token} paid
      in prizes, ${amountHtml(burned)} ${site.token} burned.
    </p>
    ${ninetyDays(flows, site)}
    <p class="source">
      ${paths.has('/flows') ? html`<a href="${page}">The same day by day, as a table</a> · ` : null}
      <a data-json href="${address}">JSON of the chart</a>
    </p>`
}
