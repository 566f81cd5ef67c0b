import type { ContestWire } from '../../../protocol/endpoints/contest-endpoints.ts'
import { amountHtml, countHtml, isZero } from '../../markup/amount-html.ts'
import { contestTitleLink } from '../../markup/contest-name.ts'
import { type Html, html } from '../../markup/html.ts'
import { contestState, stateChip } from '../../markup/kind-words.ts'
import { nearMoment } from '../../markup/moment-html.ts'
import { spanBetween } from '../../markup/time-words.ts'
import type { View } from '../../frame/page.ts'
import { expressed, wholePercentOf } from '../../charts/share.ts'

type Table = Readonly<{
  /** JSON pointer of the list. */
  list: string
  most: number
}>

/** Table of contests that are settled. */
export function settledTable(contests: readonly ContestWire[], { list, most }: Table, view: View): Html {
  const { token } = view.site
  return html`<table class="cards" data-list="${list}" data-most="${most}">
    <thead>
      <tr>
        <th scope="col" data-field="title id?">Contest</th>
        <th scope="col" class="r fold" data-field="id">No.</th>
        <th scope="col" data-field="closedAt?">Closed</th>
        <th scope="col" class="fold">Settled</th>
        <th scope="col" class="r fold" data-field="entries">Entries</th>
        <th scope="col" class="r fold" data-field="spentOnPlay">Spent</th>
        <th scope="col" class="r" data-field="prizesRedeemed">Prizes paid, ${token}</th>
      </tr>
    </thead>
    <tbody>
      ${contests.map((one, index) => {
        const { id, title, entries, spentOnPlay, prizesRedeemed } = one
        return html`<tr>
          <th scope="row">${contestTitleLink(id, title)}</th>
          <td class="r fold quiet">${id}</td>
          ${closedCell(one, `${list}/${index}`, view)}
          <td class="fold">${laterOf(one, `${list}/${index}`)}</td>
          <td class="r fold">${countHtml(entries)}</td>
          <td class="r fold">${amountHtml(spentOnPlay)}</td>
          <td class="r">${amountHtml(prizesRedeemed)}</td>
        </tr>`
      })}
    </tbody>
  </table>`
}

/** When a contest closed, with its outcome unless all is paid. */
function closedCell(one: ContestWire, pointer: string, view: View): Html {
  const { closedAt, outcome } = one
  const closed = closedAt === null ? null : nearMoment(closedAt, view)
  if (outcome === 'paid') return html`<td data-label="closed">${closed}</td>`
  return html`<td data-label="closed" data-at="${pointer}/closedAt? ${pointer}/outcome">
    ${closed} ${stateChip(contestState(one))}
  </td>`
}

/** Time from the close of a contest to its `contest/paid`. */
function laterOf({ closedAt, paidAt }: ContestWire, pointer: string): Html | null {
  if (closedAt === null || paidAt === null) return null
  return html`${expressed(`span ${pointer}/closedAt ${pointer}/paidAt`, spanBetween(closedAt, paidAt))} later`
}

/** Table of contests in any state: what a search, a state or an order finds. */
export function foundTable(contests: readonly ContestWire[], { list, most }: Table, view: View): Html {
  const { token } = view.site
  return html`<table class="cards found" data-list="${list}" data-most="${most}">
    <thead>
      <tr>
        <th scope="col" data-field="title id?">Contest</th>
        <th scope="col" class="r fold" data-field="id">No.</th>
        <th scope="col" data-field="outcome|status">State</th>
        <th scope="col" data-field="closedAt|closesAt">Closes or closed</th>
        <th scope="col" class="r fold" data-field="entries">Entries</th>
        <th scope="col" class="r" data-field="pool">Pool, ${token}</th>
        <th scope="col" class="r fold">Paid</th>
        <th scope="col" class="r" data-field="prizesNotRedeemed">Unpaid, ${token}</th>
      </tr>
    </thead>
    <tbody>
      ${contests.map((one, index) => {
        const { id, title, closedAt, closesAt, entries, pool, prizesNotRedeemed } = one
        return html`<tr>
          <th scope="row" class="all">${contestTitleLink(id, title)}</th>
          <td class="r fold quiet">${id}</td>
          <td>${stateChip(contestState(one))}</td>
          <td data-label="${closedAt === null ? 'closes' : 'closed'}">
            ${nearMoment(closedAt ?? closesAt, view)}
          </td>
          <td class="r fold">${countHtml(entries)}</td>
          <td class="r" data-label="pool">${amountHtml(pool)}</td>
          <td class="r fold">${shareOf(one, `${list}/${index}`)}</td>
          <td class="r" data-label="unpaid">${amountHtml(prizesNotRedeemed)}</td>
        </tr>`
      })}
    </tbody>
  </table>`
}

function shareOf({ outcome, prizesRedeemed, prizesOwed }: ContestWire, pointer: string): Html {
  const share = wholePercentOf(
    { figure: prizesRedeemed, pointer: `${pointer}/prizesRedeemed` },
    { figure: prizesOwed, pointer: `${pointer}/prizesOwed` },
  )
  if (share !== null) return share
  // Payments of a prize that a correction cancelled are left when nothing is owed.
  if (!isZero(prizesRedeemed)) {
    return html`<span data-at="${pointer}/prizesRedeemed">${amountHtml(prizesRedeemed)}</span>`
  }
  return html`<span class="none">${outcome === null ? 'nothing won yet' : 'nothing was won'}</span>`
}
