import type { Unpaid, UnpaidStatus } from '../../../protocol/resources.ts'
import { amountHtml } from '../../markup/amount-html.ts'
import { contestLink } from '../../markup/contest-name.ts'
import type { Html } from '../../markup/html.ts'
import { html } from '../../markup/html.ts'
import { momentOf, momentOrNone } from '../../markup/moment-html.ts'
import type { View } from '../../frame/page.ts'

/** What each state of an unpaid prize is called; `/payouts` says what it means. */
export const STATUS_WORDS: Readonly<Record<UnpaidStatus, string>> = {
  locked: 'locked',
  in_review: 'in review',
  awaiting_claim: 'awaiting claim',
  payable: 'payable',
  overpaid: 'overpaid',
}

/** A row of the answer, with its place in it. */
export type Placed = Readonly<{ unpaid: Unpaid; index: number }>

/**
 * How a table of unpaid prizes is called, the contests' titles by number, null on the page of one contest, and the list
 * that its rows are of.
 */
export type UnpaidTable = Readonly<{
  name: string
  titles: ReadonlyMap<number, string | null> | null
  list: string
  most?: number
}>

/** The contest of a prize, and its kind below. */
export function prizeName({ contestId, kind }: Unpaid, titles: ReadonlyMap<number, string | null>): Html {
  return html`${contestLink(contestId, titles.get(contestId) ?? null)}<br />${kind}`
}

/** Prizes won and not yet paid, each with when it can be. */
export function unpaidTable(
  rows: readonly Placed[],
  { site }: View,
  { name, titles, list, most }: UnpaidTable,
): Html {
  return html`<div class="wide" role="region" aria-label="${name}" tabindex="0">
    <table class="cards" data-list="${list}" ${most === undefined ? null : html`data-most="${most}"`}>
      <thead>
        <tr>
          <th scope="col" data-field="${titles === null ? 'kind' : 'contestId kind'}">
            ${titles === null ? 'Kind' : 'Contest and kind'}
          </th>
          <th scope="col" data-field="status">State</th>
          <th scope="col" class="r" data-field="kots">${site.token}</th>
          <th scope="col" data-field="availableAt">Available</th>
          <th scope="col" class="fold" data-field="unlocksAt">Unlocks</th>
          <th scope="col" class="fold" data-field="reviewUntil">In review until</th>
        </tr>
      </thead>
      <tbody>
        ${rows.slice(0, most).map(
          ({ unpaid: one, index }) =>
            html`<tr data-key="${unpaidKey(one)}" data-row="${list}/${index}">
              <th scope="row" class="all">${titles === null ? one.kind : prizeName(one, titles)}</th>
              <td><span class="pill ${one.status}">${STATUS_WORDS[one.status]}</span></td>
              <td class="r">${amountHtml(one.kots)}</td>
              <td class="all" data-label="available">${momentOf(one.availableAt)}</td>
              <td class="fold">${momentOrNone(one.unlocksAt, 'no lock')}</td>
              <td class="fold">${momentOrNone(one.reviewUntil, 'no review')}</td>
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`
}

/** Tells a row from the others of its table, whichever of them come and go: a contest has several. */
export function unpaidKey({
  contestId,
  kind,
  status,
  unlocksAtMs,
  reviewUntilMs,
  availableAtMs,
}: Unpaid): string {
  return [contestId, kind, status, unlocksAtMs, reviewUntilMs, availableAtMs].join(' ')
}
