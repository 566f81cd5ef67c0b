import type { Unpaid } from '../../../protocol/resources.ts'
import { amountHtml } from '../../markup/amount-html.ts'
import { contestLink } from '../../markup/contest-name.ts'
import type { Html } from '../../markup/html.ts'
import { html } from '../../markup/html.ts'
import { stateChip } from '../../markup/kind-words.ts'
import { momentOf, momentOrNone } from '../../markup/moment-html.ts'
import type { View } from '../../frame/page.ts'
import type { IndexedPrize } from './payouts-headline.ts'

type UnpaidTableOptions = Readonly<{
  /** Accessible name of the table. */
  name: string
  /** Contests' titles by id; null on the page of one contest. */
  titles: ReadonlyMap<number, string | null> | null
  /** JSON pointer of the list. */
  list: string
  /** Maximum number of rows. */
  most?: number
}>

/** Link to the contest of a prize, and the prize's kind. */
function prizeName({ contestId, kind }: Unpaid, titles: ReadonlyMap<number, string | null>): Html {
  return html`${contestLink(contestId, titles.get(contestId) ?? null)}<br />${kind}`
}

/** Table of unpaid prizes with their states and dates. */
export function unpaidTable(
  rows: readonly IndexedPrize[],
  { site }: View,
  { name, titles, list, most }: UnpaidTableOptions,
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
              <td>${stateChip(one.status)}</td>
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

/** Stable key of a row. A contest may have several rows. */
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
