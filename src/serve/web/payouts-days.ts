import { boundOf, DAY_MS, formatAt, msOf, floorTo } from '../../protocol/moment.ts'
import type { Unpaid } from '../../protocol/resources.ts'
import { amount } from './amount.ts'
import { barChart } from './chart-bars.ts'
import type { Derived } from './derived.ts'
import { derived, sum } from './derived.ts'
import type { Html } from './html.ts'
import { html } from './html.ts'
import { dayOf, momentOf } from './moment.ts'
import type { View } from './page.ts'
import { prizeName, STATUS_WORDS, unpaidKey } from './unpaid-table.ts'

/** A row of the answer, with its place in it. */
export type Placed = Readonly<{ unpaid: Unpaid; index: number }>

/** Days that are drawn: what comes later stands in the table. */
const DAYS_DRAWN_MAX = 30

type Day = Readonly<{ startMs: number; rows: readonly Placed[]; total: Derived }>

/** The rows by the day on which they become available, each day with its total. */
function daysOf(rows: readonly Placed[]): readonly Day[] {
  const byDay = Map.groupBy(rows, ({ unpaid }) => floorTo(msOf(unpaid.availableAtMs), DAY_MS))
  return [...byDay].flatMap(([startMs, placed]) => {
    const total = sum(
      placed.map(({ unpaid, index }) => ({ pointer: `/unpaid/${index}/kots`, figure: unpaid.kots })),
    )
    return total === null ? [] : [{ startMs, rows: placed, total }]
  })
}

/** Fewer days than these say nothing as a picture that their totals do not. */
const DAYS_DRAWN_MIN = 4

/** What becomes available on each of the next days; nothing where that is a few days. */
export function daysChart(rows: readonly Placed[], { site }: View): Html | null {
  const days = daysOf(rows)
  const [first] = days
  const last = days.at(-1)
  if (first === undefined || last === undefined) return null
  const length = Math.min(DAYS_DRAWN_MAX, (last.startMs - first.startMs) / DAY_MS + 1)
  if (length < DAYS_DRAWN_MIN) return null
  const totals = new Map(days.map(({ startMs, total }) => [startMs, total.figure]))
  const bars = Array.from({ length }, (_, index) => {
    const startMs = first.startMs + index * DAY_MS
    return { label: formatAt(boundOf(startMs)).slice(5, 10), figure: totals.get(startMs) ?? '0.000000000' }
  })
  return barChart({
    id: 'days',
    title: `What becomes available day by day, ${site.token}`,
    description: 'The total of each day; the table below has the same totals.',
    bars,
  })
}

/** What the table of days is made with: the contests' titles by number, and whether its last day is cut. */
type Told = Readonly<{ titles: ReadonlyMap<number, string | null>; cut: boolean }>

/** What waits for a date, day by day. */
export function waitingTable(rows: readonly Placed[], told: Told, { site }: View): Html {
  const days = daysOf(rows)
  return html`<div class="wide" role="region" aria-label="Prizes waiting for a date" tabindex="0">
    <table>
      <thead>
        <tr>
          <th scope="col">Contest and kind</th>
          <th scope="col">State</th>
          <th scope="col" class="r">${site.token}</th>
          <th scope="col">Available</th>
        </tr>
      </thead>
      ${days.map((day, index) => groupOf(day, told.cut && index === days.length - 1, told))}
    </table>
  </div>`
}

function groupOf({ rows, total }: Day, cut: boolean, { titles }: Told): Html {
  const [first] = rows
  return html`<tbody>
    <tr class="group" data-key="day">
      <th scope="rowgroup" colspan="2">${first === undefined ? null : dayOf(first.unpaid.availableAt)}</th>
      <td class="r">${cut ? html`<span class="none">cut here</span>` : html`<b>${derived(total)}</b>`}</td>
      <td></td>
    </tr>
    ${rows.map(
      ({ unpaid }) =>
        html`<tr data-key="${unpaidKey(unpaid)}">
          <th scope="row">${prizeName(unpaid, titles)}</th>
          <td><span class="pill ${unpaid.status}">${STATUS_WORDS[unpaid.status]}</span></td>
          <td class="r">${amount(unpaid.kots)}</td>
          <td>${momentOf(unpaid.availableAt)}<span data-relative="${unpaid.availableAt}"></span></td>
        </tr>`,
    )}
  </tbody>`
}
