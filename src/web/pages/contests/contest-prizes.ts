import type { ContestLedger, PrizeLine } from '../../../protocol/endpoints/contest-endpoints.ts'
import { amountHtml, isZero } from '../../markup/amount-html.ts'
import { shareBar } from '../../markup/book.ts'
import { digitsOf } from '../../markup/chart-scale.ts'
import { derived, sumOfAll } from '../../markup/derived.ts'
import { type Html, html } from '../../markup/html.ts'
import { kindName, kindPlace } from '../../markup/kind-words.ts'
import type { View } from '../../frame/page.ts'
import { expressed } from '../../charts/share.ts'

type Column = 'owed' | 'redeemed' | 'expired' | 'notRedeemed'

/** Whether a contest has prizes. A prize that a correction cancelled before anything was paid is a line of zeros. */
export function hasPrizes({ prizes }: ContestLedger): boolean {
  return prizes.some(({ owed, redeemed, expired }) => ![owed, redeemed, expired].every(isZero))
}

/** Whether more was paid of a kind than was won. A kind can also be below zero because more has expired than was left. */
export function isOverpaid(prizes: readonly PrizeLine[]): boolean {
  return prizes.some(({ owed, redeemed }) => digitsOf(redeemed) > digitsOf(owed))
}

/** Table of the prizes by kind: won, paid, expired and unpaid, and the sums. */
export function prizeTable({ prizes }: ContestLedger, { site }: View): Html | null {
  if (prizes.length === 0) return null
  const lapses = prizes.some(({ expired }) => !isZero(expired))
  return html`<h2>Prizes by kind</h2>
    <table class="cards prizes" data-list="/prizes">
      <caption class="hidden">
        Amounts in ${site.token}
      </caption>
      <thead>
        <tr>
          <th scope="col" data-field="kind">Who</th>
          <th scope="col" class="r" data-field="owed">Won</th>
          <th scope="col" class="r fold" data-field="redeemed">Paid</th>
          ${lapses ? html`<th scope="col" class="r" data-field="expired">Expired</th>` : null}
          <th scope="col"><span class="hidden">Share paid</span></th>
          <th scope="col" class="r" data-field="notRedeemed">Unpaid</th>
        </tr>
      </thead>
      <tbody>
        ${prizes
          .map((prize, index) => ({ prize, index }))
          .toSorted((a, b) => byPlace(a.prize.kind, b.prize.kind))
          .map(({ prize, index }) => prizeRow(prize, index, lapses))}
      </tbody>
      <tfoot>
        ${sumRow(prizes, lapses)}
      </tfoot>
    </table>`
}

function prizeRow(prize: PrizeLine, index: number, lapses: boolean): Html {
  const { kind, owed, redeemed, expired } = prize
  return html`<tr data-row="/prizes/${index}">
    <th scope="row">${kindName(kind)}</th>
    <td class="r won" data-label="won">${amountHtml(owed)}</td>
    <td class="r fold">${amountHtml(redeemed)}</td>
    ${lapses ? html`<td class="r" data-label="expired">${amountHtml(expired)}</td>` : null}
    <td class="bar">${shareBar(partOf(redeemed, owed))}</td>
    <td class="r" data-label="${isAllPaid(prize) ? '' : 'unpaid'}">${openOf(prize, index)}</td>
  </tr>`
}

/** Unpaid amount of a kind, or the words that all of it is paid. */
function openOf(prize: PrizeLine, index: number): Html {
  if (!isAllPaid(prize)) return amountHtml(prize.notRedeemed)
  const expression = `all-paid /prizes/${index}/notRedeemed /prizes/${index}/expired`
  return html`<span class="chip done">${expressed(expression, 'All paid')}</span>`
}

function isAllPaid({ owed, expired, notRedeemed }: PrizeLine): boolean {
  return !isZero(owed) && isZero(expired) && isZero(notRedeemed)
}

function sumRow(prizes: readonly PrizeLine[], lapses: boolean): Html {
  const sum = (column: Column): Html | null => {
    const total = sumOfAll(
      `/prizes/*/${column}`,
      prizes.map((prize) => prize[column]),
    )
    return total === null ? null : derived(total)
  }
  return html`<tr>
    <th scope="row">All</th>
    <td class="r won" data-label="won">${sum('owed')}</td>
    <td class="r fold">${sum('redeemed')}</td>
    ${lapses ? html`<td class="r" data-label="expired">${sum('expired')}</td>` : null}
    <td class="bar fold"></td>
    <td class="r" data-label="unpaid">${sum('notRedeemed')}</td>
  </tr>`
}

/** Order of kinds in a list: the winner first, then as the API has them. */
export function byPlace(one: string, other: string): number {
  const [first, second] = [kindPlace(one), kindPlace(other)]
  return first === second ? 0 : first - second
}

/** A part of a whole from 0 to 1, for a bar. */
export function partOf(part: string, whole: string): number {
  return isZero(whole) ? 0 : Math.min(1, Math.max(0, Number(part) / Number(whole)))
}
