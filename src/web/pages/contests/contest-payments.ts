import type { EventWire } from '../../../protocol/event.ts'
import type { ContestLedger } from '../../../protocol/endpoints/contest-endpoints.ts'
import { amountHtml, eventLink } from '../../markup/amount-html.ts'
import { sectionHead } from '../../markup/book.ts'
import { type Html, html } from '../../markup/html.ts'
import { onePaid } from '../../markup/kind-words.ts'
import { cellMoment } from '../../markup/moment-html.ts'
import { explorersNote, shortTransaction } from '../../markup/transaction.ts'
import { isWholeList } from '../../frame/page-rows.ts'
import type { View } from '../../frame/page.ts'
import { expressed } from '../../charts/share.ts'

/** Payments on a page. A link leads to more; the export has all. */
const PAYMENTS_SHOWN = 100
/** Payments above the closed list of the earlier ones. */
const NEWEST_SHOWN = 8

type Payment = Readonly<{ event: EventWire; index: number }>

/** The payments with their transactions, newest first if all of them are known, else page by page. */
export function paymentsOf(ledger: ContestLedger, view: View): Html {
  const { payouts } = ledger
  const all = payouts.map((event, index): Payment => ({ event, index }))
  if (isWholeList(ledger, view)) {
    const shown = all.toReversed().slice(0, PAYMENTS_SHOWN)
    const isCut = shown.length < all.length
    const count = expressed('count /payouts', String(all.length))
    return html`${sectionHead(nameOf(ledger), html`<span>${count}, newest first</span>`)}
    ${paymentTable(shown.slice(0, NEWEST_SHOWN), view, isCut ? NEWEST_SHOWN : null)}
    ${earlier(shown.slice(NEWEST_SHOWN), isCut, ledger, view)} ${explorersNote(view.site)}`
  }
  const shown = all.slice(0, PAYMENTS_SHOWN)
  const more = shown.length < all.length || ledger.next !== null
  const { id } = ledger.contest
  // The CSV of the ledger ends after ten thousand rows; that of the log is whole.
  const csv = `/api/v1/events?contestId=${id}&type=payout,correction&format=csv`
  return html`${sectionHead(nameOf(ledger), html`<span>a part of them, in the order of their events</span>`)}
    <p class="quiet">
      These are only part of the payments, so they do not add up to what is paid.
      <a href="/contests/${id}/ledger">See them from the first on</a>, or <a href="${csv}">all as CSV</a>,
      with the contest’s other corrections.
    </p>
    ${paymentTable(shown, view, PAYMENTS_SHOWN)} ${explorersNote(view.site)}
    ${pager(id, shown.at(-1)?.event.seq, more, view)}`
}

/** Name of the lines. The corrections of payments are among them. */
function nameOf(ledger: ContestLedger): string {
  return isPlain(ledger) ? 'Payments' : 'Payments and corrections'
}

function isPlain({ payouts }: ContestLedger): boolean {
  return payouts.every(({ type }) => type === 'payout')
}

/** The payments before the newest, in a closed list. */
function earlier(
  payments: readonly Payment[],
  isCut: boolean,
  ledger: ContestLedger,
  view: View,
): Html | null {
  const { contest, payouts } = ledger
  if (payments.length === 0) return null
  const most = isCut ? PAYMENTS_SHOWN - NEWEST_SHOWN : null
  const rest = payouts.length - NEWEST_SHOWN
  const line = isPlain(ledger) ? 'payment' : 'line'
  return html`<details>
    <summary>
      ${expressed(`beyond-${NEWEST_SHOWN} /payouts`, String(rest))} earlier ${rest === 1 ? line : `${line}s`}
    </summary>
    ${paymentTable(payments, view, most)}
    ${
      isCut
        ? html`<p>
            Only the newest are shown here.
            <a href="/contests/${contest.id}/ledger?limit=${PAYMENTS_SHOWN}">Read all from the first on</a>,
            or <a href="/contests/${contest.id}/ledger.csv">as CSV</a>.
          </p>`
        : null
    }
  </details>`
}

function paymentTable(payments: readonly Payment[], view: View, most: number | null): Html {
  const { site } = view
  return html`<table
    class="cards payments"
    data-list="/payouts"
    ${most === null ? null : html`data-most="${most}"`}
  >
    <thead>
      <tr>
        <th scope="col" data-field="at">When, UTC</th>
        <th scope="col" data-field="type? kind">To</th>
        <th scope="col" class="r" data-field="kots">${site.token}</th>
        <th scope="col" class="r" data-field="tx">Transaction</th>
        <th scope="col" class="r fold" data-field="seq">Event</th>
      </tr>
    </thead>
    <tbody>
      ${payments.map(
        ({ event: { seq, at, type, kind, kots, tx }, index }) =>
          html`<tr data-row="/payouts/${index}">
            <td class="when" data-label="UTC">${cellMoment(at, view)}</td>
            <td class="to">${toWhom(type, kind)}</td>
            <td class="r">${kots === null ? null : amountHtml(kots)}</td>
            <td class="r txs">${tx === null ? null : shortTransaction(tx, site)}</td>
            <td class="r fold">${eventLink(seq)}</td>
          </tr>`,
      )}
    </tbody>
  </table>`
}

function toWhom(type: string, kind: string): Html {
  if (type === 'payout') return html`${onePaid(kind, true)}${kind === 'refund' ? ', stake given back' : null}`
  return html`Correction of a ${kind}`
}

function pager(id: number, last: number | undefined, more: boolean, { query }: View): Html | null {
  const paged = query.has('after')
  if (!paged && !more) return null
  return html`<nav aria-label="Pages of payments" class="pager" data-chrome>
    ${paged ? html`<a href="/contests/${id}/ledger?limit=${PAYMENTS_SHOWN}">First payments</a>` : null}
    ${
      more && last !== undefined
        ? html`<a rel="next" href="/contests/${id}/ledger?after=${last}&limit=${PAYMENTS_SHOWN}"
            >Later payments</a
          >`
        : null
    }
  </nav>`
}
