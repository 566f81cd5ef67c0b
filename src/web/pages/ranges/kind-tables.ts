import { KIND_MAPS } from '../../../project/answers/flows.ts'
import { KIND_TYPES, type KindFigure } from '../../../project/fold/tally.ts'
import type { Flows } from '../../../protocol/endpoints/figure-endpoints.ts'
import type { View } from '../../frame/page.ts'
import { amountHtml } from '../../markup/amount-html.ts'
import { sectionHead, shareBar } from '../../markup/book.ts'
import { digitsOf } from '../../markup/chart-scale.ts'
import { type Derived, sumOfAll } from '../../markup/derived.ts'
import { type Html, html } from '../../markup/html.ts'
import { kindName } from '../../markup/kind-words.ts'
import { FLOWS } from './flows-chart.ts'
import { spanQuery } from './range-controls.ts'

/** Most kinds of a table, those with the largest amounts. */
const KINDS_SHOWN = 12

/** Amounts of a range by kind: a table for each figure. Null unless the answer has them. */
export function kindTables(flows: Flows, { site, path, query }: View): Html | null {
  if (flows.buckets[0]?.spentByKind === undefined) return null
  const without = `${path}${query.format({ by: undefined })}`
  return html`<section id="kinds">
    ${sectionHead('By kind', html`<span>${site.token}, largest first</span>`)}
    <div class="panels">${FLOWS.map(({ key, name }) => tableOf(key, name, flows))}</div>
    <p class="source">
      Corrections are subtracted here. The lists of events have every amount as it was published.
    </p>
    <p class="source" data-chrome>
      <a href="${path}.csv${query.format()}">Each bucket by kind as CSV</a>.
      <a href="${without}">Without kinds</a>.
    </p>
  </section>`
}

type KindSum = Readonly<{ kind: string; sum: Derived }>

/** Kinds of a figure with their sums over all buckets, the largest first. */
function sumsOf(figure: KindFigure, { buckets }: Flows): readonly KindSum[] {
  const map = KIND_MAPS[figure]
  return Object.keys(buckets[0]?.[map] ?? {})
    .flatMap((kind) => {
      const sum = sumOfAll(
        `/buckets/*/${map}/${kind}`,
        buckets.map((bucket) => bucket[map]?.[kind] ?? ''),
      )
      return sum === null ? [] : [{ kind, sum }]
    })
    .toSorted((a, b) => Number(digitsOf(b.sum.figure) - digitsOf(a.sum.figure)))
}

function tableOf(figure: KindFigure, name: string, flows: Flows): Html {
  const sums = sumsOf(figure, flows)
  const list = `/buckets/0/${KIND_MAPS[figure]}`
  const total = flows.totals[figure]
  const all = digitsOf(total)
  const more = sums.length - KINDS_SHOWN
  return html`<div class="wide" role="region" aria-label="${name} by kind" tabindex="0">
    <table
      ${sums.length === 0 ? null : html`data-list="${list}"`}
      ${more > 0 ? html`data-most="${KINDS_SHOWN}"` : null}
    >
      <thead>
        <tr>
          <th scope="col" data-field="*">${name}</th>
          <th scope="col"><span class="hidden">Share</span></th>
          <th scope="col" class="r">Amount</th>
        </tr>
      </thead>
      <tbody>
        ${sums.slice(0, KINDS_SHOWN).map(
          ({ kind, sum }) =>
            html`<tr data-row="${list}/${kind}">
              <th scope="row">
                <a href="/events?${spanQuery(flows)}&type=${KIND_TYPES[figure]}&kind=${kind}"
                  >${kindName(kind)}</a
                >
              </th>
              <td class="bar">
                ${shareBar(all <= 0n ? 0 : Number(digitsOf(sum.figure)) / Number(all), 'ink')}
              </td>
              <td class="r" data-expr="${sum.expression}">${amountHtml(sum.figure)}</td>
            </tr>`,
        )}
      </tbody>
      <tfoot>
        <tr>
          <th scope="row">All</th>
          <td></td>
          <td class="r" data-at="/totals/${figure}">${amountHtml(total)}</td>
        </tr>
      </tfoot>
    </table>
    ${more > 0 ? html`<p class="source" data-chrome>Further kinds are in the CSV.</p>` : null}
  </div>`
}
