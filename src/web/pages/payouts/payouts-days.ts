import { boundOf, DAY_MS, formatAt, msOf, floorTo } from '../../../protocol/moment.ts'
import type { Payouts } from '../../../protocol/endpoints/contest-endpoints.ts'
import type { Bars } from '../../charts/chart-bars.ts'
import { barPicture } from '../../charts/chart-picture.ts'
import { digitsOf } from '../../markup/chart-scale.ts'
import { dayMark } from '../../charts/chart-time.ts'
import { type Derived, derivedSum } from '../../markup/derived.ts'
import type { Html } from '../../markup/html.ts'
import type { View } from '../../frame/page.ts'
import { isWholeList } from '../../frame/page-rows.ts'
import { type IndexedPrize, waitingIn } from './payouts-headline.ts'

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

/** Picture of the amounts that become available on each of the next days. */
export function daysPicture(payouts: Payouts, title: string, view: View): Html {
  const rows = waitingIn(payouts)
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
  const part = isWholeList(payouts, view) ? '' : ', for part of the unpaid prizes'
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
