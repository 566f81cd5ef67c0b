import type { ContestLedger, PrizeLine } from '../../../protocol/resources.ts'
import { amountHtml, eventLink } from '../../markup/amount-html.ts'
import type { Term } from '../../markup/derived.ts'
import { derived, derivedSum, sumOfAll } from '../../markup/derived.ts'
import type { Html } from '../../markup/html.ts'
import { html } from '../../markup/html.ts'
import { momentOf } from '../../markup/moment-html.ts'
import type { View } from '../../frame/page.ts'
import { percentOf } from '../../charts/share.ts'
import { explorersNote, transaction } from '../../markup/transaction.ts'

/** Payouts on a page. A link leads to more; the export has all. */
const PAYOUTS_SHOWN = 200

/** Table of the kinds of prizes: owed, paid, expired and unpaid amounts. */
export function prizeTable({ prizes }: ContestLedger, { site }: View): Html {
  return html`<h2>Prizes by kind</h2>
    <div class="wide" role="region" aria-label="Prizes by kind" tabindex="0">
      <table class="cards" data-list="/prizes">
        <thead>
          <tr>
            <th scope="col" data-field="kind">Kind</th>
            <th scope="col" class="r" data-field="owed">Won, ${site.token}</th>
            <th scope="col" class="r" data-field="redeemed">Redeemed, ${site.token}</th>
            <th scope="col" class="r" data-field="expired">Lapsed, ${site.token}</th>
            <th scope="col" class="r" data-field="notRedeemed">Open, ${site.token}</th>
            <th scope="col" class="r">Redeemed of won</th>
          </tr>
        </thead>
        <tbody>
          ${prizes.map(prizeRow)}
        </tbody>
      </table>
    </div>`
}

function prizeRow({ kind, owed, redeemed, expired, notRedeemed }: PrizeLine, index: number): Html {
  const share = percentOf(
    { figure: redeemed, pointer: `/prizes/${index}/redeemed` },
    { figure: owed, pointer: `/prizes/${index}/owed` },
  )
  return html`<tr>
    <th scope="row">${kind}</th>
    <td class="r" data-label="won">${amountHtml(owed)}</td>
    <td class="r" data-label="redeemed">${amountHtml(redeemed)}</td>
    <td class="r" data-label="lapsed">${amountHtml(expired)}</td>
    <td class="r" data-label="open">${amountHtml(notRedeemed)}</td>
    <td class="r" data-label="redeemed of won">${share ?? html`<span class="none">none won</span>`}</td>
  </tr>`
}

/** Table of payouts with their transactions, and whether they add up to the paid prizes. */
export function payoutsOf(ledger: ContestLedger, view: View): Html {
  const { payouts, contest, next } = ledger
  if (payouts.length === 0) {
    return html`<h2>Payouts</h2>
      <p>
        Nothing has been paid in this contest yet.
        ${contest.status === 'paying' ? html`<a href="/payouts?contestId=${contest.id}">See when it can be</a>.` : null}
      </p>`
  }
  const shown = payouts.slice(0, PAYOUTS_SHOWN)
  return html`<h2>Payouts</h2>
    ${checkOf(ledger, view)} ${explorersNote(view.site)} ${payoutTable(shown, view)}
    ${pager(contest.id, shown.at(-1)?.seq, shown.length < payouts.length || next !== null, view)}`
}

function payoutTable(payouts: ContestLedger['payouts'], { site }: View): Html {
  return html`<div class="wide" role="region" aria-label="Payouts" tabindex="0">
    <table class="cards" data-list="/payouts" data-most="${PAYOUTS_SHOWN}">
      <thead>
        <tr>
          <th scope="col" data-field="seq">Event</th>
          <th scope="col" class="r" data-field="kots">${site.token}</th>
          <th scope="col" data-field="type? kind">Kind</th>
          <th scope="col" data-field="at">Published</th>
          <th scope="col" data-field="tx">Transaction</th>
        </tr>
      </thead>
      <tbody>
        ${payouts.map(
          ({ seq, at, type, kind, kots, tx }) =>
            html`<tr>
              <th scope="row">${eventLink(seq)}</th>
              <td class="r">${kots === null ? null : amountHtml(kots)}</td>
              <td>${type === 'payout' ? kind : `${type} of a ${kind}`}</td>
              <td class="far">${momentOf(at)}</td>
              <td class="all txs">${tx === null ? null : transaction(tx, site)}</td>
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`
}

function pager(id: number, last: number | undefined, more: boolean, { query }: View): Html | null {
  const paged = query.has('after')
  if (!paged && !more) return null
  return html`<nav aria-label="Pages of payouts" class="pager" data-chrome>
    ${paged ? html`<a href="/contests/${id}/ledger">First payouts</a>` : null}
    ${
      more && last !== undefined
        ? html`<a rel="next" href="/contests/${id}/ledger?after=${last}&limit=${PAYOUTS_SHOWN}"
            >Later payouts</a
          >`
        : null
    }
  </nav>`
}

/** Compares the sum of the payouts with the paid and refunded amounts of the ledger. */
function checkOf({ payouts, prizes, pool, contest, next }: ContestLedger, { site, query }: View): Html {
  if (next !== null || query.has('after')) {
    return html`<p class="quiet">
      This is a part of the payouts: only all of them add up to what is redeemed.
      <a href="/contests/${contest.id}/ledger">See them from the first on</a>.
    </p>`
  }
  const paid = sumOfAll(
    '/payouts/*/kots',
    payouts.map(({ kots }) => kots ?? ''),
  )
  const { refund } = pool.out
  const redeemed = derivedSum([
    ...prizes.map(({ redeemed: figure }, index) => ({ pointer: `/prizes/${index}/redeemed`, figure })),
    ...(refund === undefined ? [] : [{ pointer: '/pool/out/refund', figure: refund } satisfies Term]),
  ])
  if (paid === null || redeemed === null) return html``
  const same = paid.figure === redeemed.figure
  return html`<p>
    The payouts below add up to ${derived(paid)} ${site.token}; the ledger says that ${derived(redeemed)}
    ${site.token} ${refund === undefined ? 'were redeemed' : 'were redeemed or refunded'}.
    ${same ? html`<b class="ok">The two agree.</b>` : html`<b class="bad">The two do not agree.</b>`}
  </p>`
}

/** Table of the amounts into and out of the contest's pool. */
export function poolTable({ pool }: ContestLedger, { site }: View): Html {
  const rows = [
    ...Object.entries(pool.in).map(([kind, figure]) => ['in', kind, figure] as const),
    ...Object.entries(pool.out).map(([kind, figure]) => ['out', kind, figure] as const),
  ]
  if (rows.length === 0)
    return html`<h2>Pool</h2>
      <p>Nothing has been put into the pool yet.</p>`
  return html`<h2>Pool</h2>
    <div class="wide" role="region" aria-label="Pool" tabindex="0">
      <table class="cards" data-list="/pool/in /pool/out">
        <thead>
          <tr>
            <th scope="col" data-field="*">What for</th>
            <th scope="col" class="r">In, ${site.token}</th>
            <th scope="col" class="r">Out, ${site.token}</th>
          </tr>
        </thead>
        <tbody>
          ${rows.map(
            ([way, kind, figure]) =>
              html`<tr data-key="${way} ${kind}" data-row="/pool/${way}/${kind}">
                <th scope="row">${kind}</th>
                ${
                  way === 'in'
                    ? html`<td class="r" data-label="in" data-at="/pool/in/${kind}">${amountHtml(figure)}</td>
                        <td></td>`
                    : html`<td></td>
                        <td class="r" data-label="out" data-at="/pool/out/${kind}">${amountHtml(figure)}</td>`
                }
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
    <p data-at="/pool/balance">In the pool now: ${amountHtml(pool.balance)} ${site.token}.</p>`
}
