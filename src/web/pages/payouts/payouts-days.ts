import { boundOf, DAY_MS, formatAt, msOf, floorTo } from '../../../protocol/moment.ts'
import type { Payouts } from '../../../protocol/resources.ts'
import { amountHtml } from '../../markup/amount-html.ts'
import type { Bars } from '../../charts/chart-bars.ts'
import { barChart } from '../../charts/chart-bars.ts'
import { barPicture } from '../../charts/chart-picture.ts'
import { digitsOf } from '../../markup/chart-scale.ts'
import { dayMark } from '../../charts/chart-time.ts'
import type { Derived } from '../../markup/derived.ts'
import { derived, derivedSum } from '../../markup/derived.ts'
import type { Html } from '../../markup/html.ts'
import { html } from '../../markup/html.ts'
import { stateChip } from '../../markup/kind-words.ts'
import { dayOf, momentOf } from '../../markup/moment-html.ts'
import type { View } from '../../frame/page.ts'
import { isWholeList } from '../../frame/page-rows.ts'
import type { IndexedPrize } from './unpaid-table.ts'
import { prizeName, unpaidKey } from './unpaid-table.ts'

/** Days in the chart, from today. The table also has later ones. */
const DAYS_DRAWN = 30

type Day = Readonly<{ startMs: number; rows: readonly IndexedPrize[]; total: Derived }>

/** Rows grouped by the day on which they become available, with the day's total. */
function daysOf(rows: readonly IndexedPrize[]): readonly Day[] {
  const byDay = Map.groupBy(rows, ({ unpaid }) => floorTo(msOf(unpaid.availableAtMs), DAY_MS))
  return [...byDay].flatMap(([startMs, placed]) => {
    const total = sumOf(placed)
    return total === null ? [] : [{ startMs, rows: placed, total }]
  })
}

/** Chart and sentence of the amounts that become available on each of the next days; null if there are none. */
export function daysChart(payouts: Payouts, rows: readonly IndexedPrize[], view: View): Html | null {
  const { site } = view
  const drawn = drawnOf(payouts, rows)
  const total = sumOf(drawn)
  const first = mostOf(drawn)?.rows[0]
  if (total === null || first === undefined) return null
  const later = sumOf(rows.filter((row) => !drawn.includes(row)))
  return barChart(
    barsOf(payouts, rows, view),
    html`${isWholeList(payouts, view) ? null : 'Of those on this page, '}${derived(total)} ${site.token}
      become available in the next thirty days, the most on
      <span data-at="/unpaid/${first.index}/availableAt">${dayOf(first.unpaid.availableAt)}</span
      >.${later === null ? null : html` ${derived(later)} ${site.token} come later.`}`,
  )
}

/** The chart as a picture. */
export function daysPicture(
  payouts: Payouts,
  rows: readonly IndexedPrize[],
  title: string,
  view: View,
): Html {
  const from = drawnFrom(payouts)
  const bars = barsOf(payouts, rows, view)
  const dates = [from, from + (DAYS_DRAWN - 1) * DAY_MS].map((ms) => formatAt(boundOf(ms)).slice(0, 10))
  const part = isWholeList(payouts, view) ? '' : `, of ${payouts.unpaid.length} rows, and there are more`
  const range = `${dates.join(' to ')}${part}`
  return barPicture(bars, { title, asOf: payouts.asOf, range }, view)
}

function drawnFrom({ now }: Payouts): number {
  return floorTo(msOf(now.atMs), DAY_MS)
}

function drawnOf(payouts: Payouts, rows: readonly IndexedPrize[]): readonly IndexedPrize[] {
  const end = drawnFrom(payouts) + DAYS_DRAWN * DAY_MS
  return rows.filter(({ unpaid }) => unpaid.availableAtMs < end)
}

function barsOf(payouts: Payouts, rows: readonly IndexedPrize[], view: View): Bars {
  const { token } = view.site
  const part = isWholeList(payouts, view) ? '' : ', of a part of what is open'
  const from = drawnFrom(payouts)
  const drawn = drawnOf(payouts, rows)
  const totals = new Map(daysOf(drawn).map(({ startMs, total }) => [startMs, total.figure]))
  const most = mostOf(drawn)?.rows[0]?.unpaid.availableAt.slice(0, 10)
  return {
    id: 'days',
    title: `What becomes available day by day${part}, ${token}`,
    description: `The total of each of the next thirty days${part}. ${most === undefined ? 'Nothing waits for a date.' : `The most becomes available on ${most}.`}`,
    bars: Array.from({ length: DAYS_DRAWN }, (_, index) => {
      const startMs = from + index * DAY_MS
      return { label: dayMark(startMs), figure: totals.get(startMs) ?? '0.000000000' }
    }),
  }
}

/** Day on which the most becomes available, the earliest if several do. */
function mostOf(rows: readonly IndexedPrize[]): Day | undefined {
  return daysOf(rows).reduce<Day | undefined>(
    (most, day) =>
      most === undefined || digitsOf(day.total.figure) > digitsOf(most.total.figure) ? day : most,
    undefined,
  )
}

function sumOf(rows: readonly IndexedPrize[]): Derived | null {
  return derivedSum(
    rows.map(({ unpaid, index }) => ({ pointer: `/unpaid/${index}/kots`, figure: unpaid.kots })),
  )
}

/** Contests' titles by id, whether the last day is incomplete, and the maximum number of rows. */
type WaitingTableOptions = Readonly<{
  titles: ReadonlyMap<number, string | null>
  cut: boolean
  most: number
}>

/** Table of the prizes that wait for a date, day by day. */
export function waitingTable(
  rows: readonly IndexedPrize[],
  options: WaitingTableOptions,
  { site }: View,
): Html {
  const days = daysOf(rows)
  return html`<div class="wide" role="region" aria-label="Prizes waiting for a date" tabindex="0">
    <table class="cards" data-list="/unpaid" data-most="${options.most}">
      <thead>
        <tr>
          <th scope="col" data-field="contestId kind">Contest and kind</th>
          <th scope="col" data-field="status">State</th>
          <th scope="col" class="r" data-field="kots">${site.token}</th>
          <th scope="col" data-field="availableAt">Available</th>
        </tr>
      </thead>
      ${days.map((day, index) => groupOf(day, options.cut && index === days.length - 1, options))}
    </table>
  </div>`
}

function groupOf({ rows, total }: Day, cut: boolean, { titles }: WaitingTableOptions): Html {
  const [first] = rows
  return html`<tbody>
    <tr class="group" data-key="day">
      ${
        first === undefined
          ? null
          : html`<th scope="rowgroup" colspan="2" data-at="/unpaid/${first.index}/availableAt">
              ${dayOf(first.unpaid.availableAt)}
            </th>`
      }
      <td class="r">${cut ? html`<span class="none">cut here</span>` : html`<b>${derived(total)}</b>`}</td>
      <td></td>
    </tr>
    ${rows.map(
      ({ unpaid, index }) =>
        html`<tr data-key="${unpaidKey(unpaid)}" data-row="/unpaid/${index}">
          <th scope="row" class="all">${prizeName(unpaid, titles)}</th>
          <td>${stateChip(unpaid.status)}</td>
          <td class="r">${amountHtml(unpaid.kots)}</td>
          <td class="all">
            ${momentOf(unpaid.availableAt)}<span data-relative="${unpaid.availableAt}"></span>
          </td>
        </tr>`,
    )}
  </tbody>`
}
