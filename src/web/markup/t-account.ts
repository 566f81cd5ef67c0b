import { exactAmount } from './amount-html.ts'
import type { Derived, Term } from './derived.ts'
import { type Html, html, type Part } from './html.ts'

/** Row of a T account: what an amount was for, the amount, and its JSON pointer. */
type AccountRow = Term & Readonly<{ name: Part }>

/** Side of a T account. `rest` stands below the other rows, just above the sum of all. */
export type AccountSide = Readonly<{
  heading: string
  rows: readonly AccountRow[]
  rest?: readonly AccountRow[]
  sum: Readonly<{ name: string; of: Derived }>
  /** JSON pointer of the object with all rows, if the rows are those of one. */
  list?: string
}>

/** Note that two sums are the same. */
export const EQUAL_SUMS: Html = html`<span class="chip done">Equal, to the last decimal</span>`

/**
 * T account with all decimals: in on the left, out on the right, and both sums under the double rule. Sums that differ
 * are an error; `equal` follows those that do not.
 */
export function tAccount(
  sides: readonly [left: AccountSide, right: AccountSide],
  equal: Html | null = null,
): Html {
  const [left, right] = sides.map(({ sum }) => sum.of.figure)
  return html`<div class="account">${sides.map(sideHtml)}</div>
    ${left === right ? equal : html`<p><b class="bad">The two sums do not agree.</b></p>`}`
}

function sideHtml({ heading, rows, rest = [], sum, list }: AccountSide): Html {
  return html`<div class="wide" role="region" aria-label="${heading}" tabindex="0">
    <table ${rows.length === 0 || list === undefined ? null : html`data-list="${list}"`}>
      <caption>
        ${heading}
      </caption>
      <thead class="hidden">
        <tr>
          <th scope="col" data-field="*">What for</th>
          <th scope="col">Amount</th>
        </tr>
      </thead>
      <tbody>
        ${rows.map((row) => rowHtml(row, list !== undefined))}
      </tbody>
      <tfoot>
        ${rest.map((row) => rowHtml(row, false))}
        <tr>
          <th scope="row">${sum.name}</th>
          <td class="r">${exactSum(sum.of)}</td>
        </tr>
      </tfoot>
    </table>
  </div>`
}

function rowHtml({ name, pointer, figure }: AccountRow, isListed: boolean): Html {
  return html`<tr ${isListed ? html`data-row="${pointer}"` : null}>
    <th scope="row">${name}</th>
    <td class="r" data-at="${pointer}">${exactAmount(String(figure))}</td>
  </tr>`
}

/** Sum with all its decimals, and its expression. */
export function exactSum({ expression, figure }: Derived): Html {
  return html`<span data-expr="${expression}">${exactAmount(figure)}</span>`
}
