import type { Unpaid, UnpaidStatus } from '../../protocol/resources.ts'
import { amount } from './amount.ts'
import { contestLink } from './contest-name.ts'
import type { Html } from './html.ts'
import { html } from './html.ts'
import { momentOf, momentOrNone } from './moment.ts'
import type { View } from './page.ts'

/** What each state of an unpaid prize is called; `/payouts` says what it means. */
export const STATUS_WORDS: Readonly<Record<UnpaidStatus, string>> = {
  locked: 'locked',
  in_review: 'in review',
  awaiting_claim: 'awaiting claim',
  payable: 'payable',
  overpaid: 'overpaid',
}

/** How a table of unpaid prizes is called, and the contests' titles by number; null on the page of one contest. */
export type UnpaidTable = Readonly<{ name: string; titles: ReadonlyMap<number, string | null> | null }>

/** The contest of a prize, and its kind below. */
export function prizeName({ contestId, kind }: Unpaid, titles: ReadonlyMap<number, string | null>): Html {
  return html`${contestLink(contestId, titles.get(contestId) ?? null)}<br />${kind}`
}

/** Prizes won and not yet paid, each with when it can be. */
export function unpaidTable(rows: readonly Unpaid[], { site }: View, { name, titles }: UnpaidTable): Html {
  return html`<div class="wide" role="region" aria-label="${name}" tabindex="0">
    <table>
      <thead>
        <tr>
          <th scope="col">${titles === null ? 'Kind' : 'Contest and kind'}</th>
          <th scope="col">State</th>
          <th scope="col" class="r">${site.token}</th>
          <th scope="col">Available</th>
          <th scope="col" class="fold">Unlocks</th>
          <th scope="col" class="fold">In review until</th>
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (one) =>
            html`<tr data-key="${unpaidKey(one)}">
              <th scope="row">${titles === null ? one.kind : prizeName(one, titles)}</th>
              <td><span class="pill ${one.status}">${STATUS_WORDS[one.status]}</span></td>
              <td class="r">${amount(one.kots)}</td>
              <td>${momentOf(one.availableAt)}</td>
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
