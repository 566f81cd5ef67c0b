import type { Flows } from '../../protocol/resources.ts'
import { BUCKETS } from '../../protocol/resources.ts'
import { amount, amountOrNone } from './amount.ts'
import type { Html } from './html.ts'
import { html } from './html.ts'
import { momentOf } from './moment.ts'
import type { Page, View } from './page.ts'
import { rangeForm } from './range-form.ts'
import type { Table } from './table.ts'

/** `/flows`: what was spent, paid and burned, bucket by bucket. */
export const flowsPage: Page<Flows> = {
  endpoint: 'flows',
  permalink: ({ from, to, bucket }) => `/flows?from=${from}&to=${to}&bucket=${bucket}`,
  title: ({ bucket }) => `Flows by ${bucket}`,
  csv: tableOf,
  render: (flows, view) => html`
    ${rangeForm(view, flows, BUCKETS)}
    <p>
      Half-open range from ${momentOf(flows.from)} to ${momentOf(flows.to)}. What is paid in prizes leaves out
      refunds and the loyalty reward.
    </p>
    ${totalsOf(flows, view)} ${bucketsOf(flows, view)}
  `,
}

function totalsOf({ totals }: Flows, { site }: View): Html {
  const figures = [
    ['Spent on play', totals.spentOnPlay],
    ['Paid in prizes', totals.paidInPrizes],
    ['Burned', totals.burned],
  ] as const
  return html`<h2>Totals of the range</h2>
    <dl class="figures">
      ${figures.map(
        ([label, figure]) =>
          html`<div>
            <dt>${label}, ${site.token}</dt>
            <dd>${amount(figure)}</dd>
          </div>`,
      )}
    </dl>`
}

function bucketsOf({ buckets, bucket }: Flows, { site }: View): Html {
  return html`<h2>By ${bucket}</h2>
    <div class="wide" role="region" aria-label="Flows by ${bucket}" tabindex="0">
      <table>
        <thead>
          <tr>
            <th scope="col">Begins</th>
            <th scope="col" class="r">Spent on play, ${site.token}</th>
            <th scope="col" class="r">Paid in prizes, ${site.token}</th>
            <th scope="col" class="r">Burned, ${site.token}</th>
            <th scope="col" class="r">Token price at its end, USD</th>
          </tr>
        </thead>
        <tbody>
          ${buckets.map(
            (one) =>
              html`<tr>
                <th scope="row">${momentOf(one.at)}${one.complete ? null : html` <em>not over yet</em>`}</th>
                <td class="r">${amount(one.spentOnPlay)}</td>
                <td class="r">${amount(one.paidInPrizes)}</td>
                <td class="r">${amount(one.burned)}</td>
                <td class="r">${amountOrNone(one.tokenPriceUsd)}</td>
              </tr>`,
          )}
        </tbody>
      </table>
    </div>`
}

function tableOf({ buckets }: Flows): Table {
  return {
    columns: ['at', 'atMs', 'complete', 'spentOnPlay', 'paidInPrizes', 'burned', 'tokenPriceUsd'],
    rows: buckets.map((one) => [
      one.at,
      one.atMs,
      one.complete,
      one.spentOnPlay,
      one.paidInPrizes,
      one.burned,
      one.tokenPriceUsd,
    ]),
    next: null,
  }
}
