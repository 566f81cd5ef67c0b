import type { ContestLedger } from '../../../protocol/endpoints/contest-endpoints.ts'
import { exactAmount, isZero } from '../../markup/amount-html.ts'
import { facts, sectionHead } from '../../markup/book.ts'
import { type Derived, derivedSum, sumOfAll, type Term } from '../../markup/derived.ts'
import { type Html, html } from '../../markup/html.ts'
import { poolKindName } from '../../markup/kind-words.ts'
import { byPlace } from './contest-prizes.ts'
import type { View } from '../../frame/page.ts'
import { isWholeList } from '../../frame/page-rows.ts'
import { expressed } from '../../charts/share.ts'

/** Two sums that must be equal. */
type SumPair = Readonly<{ first: Derived; second: Derived; isEqual: boolean }>

/** All payments, and what the ledger says was paid or refunded; null unless the ledger has all payments. */
export function paymentSums(ledger: ContestLedger, view: View): SumPair | null {
  const { payouts, prizes, pool } = ledger
  if (!isWholeList(ledger, view)) return null
  const { refund } = pool.out
  return pairOf(
    sumOfAll(
      '/payouts/*/kots',
      payouts.map(({ kots }) => kots ?? ''),
    ),
    derivedSum([
      ...prizes.map(({ redeemed: figure }, index) => ({ pointer: `/prizes/${index}/redeemed`, figure })),
      ...(refund === undefined ? [] : [{ pointer: '/pool/out/refund', figure: refund } satisfies Term]),
    ]),
  )
}

/** Two sums of the pool: all that came in, and all that went out or is left; null before anything came in. */
export function poolSums({ pool }: ContestLedger): SumPair | null {
  const rest = derivedSum([{ pointer: '/pool/balance', figure: pool.balance }])
  const paid = sumOfAll('/pool/out/*', Object.values(pool.out))
  const terms = [...(paid === null ? [] : [paid]), ...(rest === null ? [] : [rest])]
  const out = derivedSum(terms.map(({ figure }) => ({ pointer: '', figure })))
  const expression = `sum ${paid === null ? '' : '/pool/out/* '}/pool/balance`
  return pairOf(sumOfAll('/pool/in/*', Object.values(pool.in)), out === null ? null : { ...out, expression })
}

function pairOf(first: Derived | null, second: Derived | null): SumPair | null {
  if (first === null || second === null) return null
  return { first, second, isEqual: first.figure === second.figure }
}

/** A sum with all its decimals, and the expression that gives it. */
function exactSum({ expression, figure }: Derived): Html {
  return html`<span data-expr="${expression}">${exactAmount(figure)}</span>`
}

/** Both sums of the payments side by side, and whether they are equal. */
export function paymentCheck(ledger: ContestLedger, view: View): Html | null {
  const sums = paymentSums(ledger, view)
  if (sums === null) return null
  const { payouts, pool } = ledger
  const { refund } = pool.out
  const isPlain = payouts.every(({ type }) => type === 'payout')
  const count = expressed('count /payouts', String(payouts.length))
  const all = !isPlain
    ? 'Payments and corrections'
    : payouts.length === 1
      ? 'The one payment'
      : html`The ${count} payments`
  return html`<h2>Do they add up?</h2>
    ${facts([
      [all, exactSum(sums.first)],
      [
        refund === undefined || isZero(refund)
          ? 'Paid, says the ledger'
          : 'Paid and given back, says the ledger',
        exactSum(sums.second),
      ],
    ])}
    <p>${sums.isEqual ? EQUAL : html`<b class="bad">The two do not agree.</b>`}</p>`
}

const EQUAL = html`<span class="chip done">Equal, to the last decimal</span>`

/** The pool as a T account: in on the left, out on the right, and both sums. */
export function poolAccount(ledger: ContestLedger, { site }: View): Html {
  const { pool, contest } = ledger
  const sums = poolSums(ledger)
  if (sums === null) {
    return html`<section>
      <h2>The pool</h2>
      <p>
        ${contest.closedAt === null ? 'Nothing has been put into the pool yet.' : 'Nothing was put into the pool.'}
      </p>
    </section>`
  }
  const isOver = Object.keys(pool.out).length > 0
  return html`<section>
    ${sectionHead(
      isOver ? 'How the pool came together, and where it went' : 'How the pool comes together',
      html`<span>${site.token}, exact</span>`,
    )}
    <div class="account">
      ${side(
        'in',
        'In',
        pool.in,
        html`<tr>
          ${lastRow('All that came in', sums.first)}
        </tr>`,
      )}
      ${side(
        'out',
        'Out',
        pool.out,
        html`<tr>
            <th scope="row">Left in the pool</th>
            <td class="r" data-at="/pool/balance">${exactAmount(pool.balance)}</td>
          </tr>
          <tr>
            ${lastRow(isOver ? 'All that went out or is left' : 'All that is left', sums.second)}
          </tr>`,
      )}
    </div>
    ${sums.isEqual ? null : html`<p><b class="bad">The two sums do not agree.</b></p>`}
  </section>`
}

function side(way: 'in' | 'out', heading: string, kinds: Readonly<Record<string, string>>, foot: Html): Html {
  const rows = Object.entries(kinds).toSorted(([one], [other]) => byPlace(one, other))
  return html`<div class="wide" role="region" aria-label="${heading}" tabindex="0">
    <table ${rows.length === 0 ? null : html`data-list="/pool/${way}"`}>
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
        ${rows.map(
          ([kind, figure]) =>
            html`<tr data-row="/pool/${way}/${kind}">
              <th scope="row">${poolKindName(kind)}</th>
              <td class="r" data-at="/pool/${way}/${kind}">${exactAmount(figure)}</td>
            </tr>`,
        )}
      </tbody>
      <tfoot>
        ${foot}
      </tfoot>
    </table>
  </div>`
}

function lastRow(name: string, sum: Derived): Html {
  return html`<th scope="row">${name}</th>
    <td class="r">${exactSum(sum)}</td>`
}
