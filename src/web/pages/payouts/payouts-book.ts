import { boundOf, DAY_MS, floorTo, formatAt, msOf } from '../../../protocol/moment.ts'
import type { Payouts, Unpaid } from '../../../protocol/endpoints/contest-endpoints.ts'
import type { UnpaidStatus } from '../../../protocol/enumerations.ts'
import type { View } from '../../frame/page.ts'
import { isWholeList } from '../../frame/page-rows.ts'
import { amountHtml, isPositive } from '../../markup/amount-html.ts'
import { book, type BookLine, sectionHead } from '../../markup/book.ts'
import { contestLink } from '../../markup/contest-name.ts'
import { derived, type Derived, derivedSum } from '../../markup/derived.ts'
import { type Html, html, type Part } from '../../markup/html.ts'
import { kindName, stateChip } from '../../markup/kind-words.ts'
import { hourOf, nearDay, nearMoment, spanFrom, untilMoment } from '../../markup/moment-html.ts'
import { chartPicture } from '../../charts/chart-picture.ts'
import { digitsOf } from '../../markup/chart-scale.ts'
import { dayMark } from '../../charts/chart-time.ts'
import { barPlot, type Bars } from '../../charts/chart-line.ts'

/** Maximum lines of a book on a page. Exports and the next pages have more. */
const LINES_SHOWN = 100

/** Contests' titles by id; null on the page of one contest. */
export type Titles = ReadonlyMap<number, string | null>

/** Books of unpaid prizes: those that wait, by day; those that can be paid; those of which too much was paid. */
export function unpaidBooks(payouts: Payouts, titles: Titles | null, view: View): Html {
  return html`${waitingBook(payouts, titles, view)} ${readyBook(payouts, titles, view)}
  ${overpaidBook(payouts, titles, view)}`
}

function waitingBook(payouts: Payouts, titles: Titles | null, view: View): Html | null {
  const rows = waitingIn(payouts)
  if (rows.length === 0) return null
  const { totals } = payouts
  const heading =
    isPositive(totals.payable) || isPositive(totals.awaiting_claim)
      ? 'When the rest can be paid'
      : 'When they can be paid'
  return html`<section>
    ${sectionHead(heading, html`<span>days in UTC</span>`)}
    ${book(dayLines(payouts, rows, titles, view), listOf(titles))} ${moreNote(rows, payouts, view)}
  </section>`
}

/** Lines by day. A day has its sum, unless some of its prizes may be missing here. */
function dayLines(
  payouts: Payouts,
  rows: readonly IndexedPrize[],
  titles: Titles | null,
  view: View,
): readonly BookLine[] {
  const whole = isWholeList(payouts, view)
  const days = Map.groupBy(rows, ({ unpaid }) => floorTo(msOf(unpaid.availableAtMs), DAY_MS))
  const lines: BookLine[] = []
  let left = LINES_SHOWN
  for (const [startMs, ofDay] of days) {
    const [first] = ofDay
    if (first === undefined || left === 0) break
    const { weekday, date } = nearDay(first.unpaid.availableAt, view)
    const at = `/unpaid/${first.index}/availableAt`
    lines.push(
      {
        as: 'day',
        key: `day ${startMs}`,
        when: html`<span data-at="${at}">${weekday}</span>`,
        what: html`<span data-at="${at}">${date}</span>`,
        amount: whole ? sumOf(ofDay) : null,
      },
      ...ofDay.slice(0, left).map((row) => {
        const { availableAt } = row.unpaid
        return lineOf(row, titles, { when: hourOf(availableAt), wait: untilMoment(availableAt, view) })
      }),
    )
    left -= Math.min(left, ofDay.length)
  }
  return lines
}

function sumOf(rows: readonly IndexedPrize[]): Html | null {
  const sum = derivedSum(
    rows.map(({ unpaid, index }) => ({ pointer: `/unpaid/${index}/kots`, figure: unpaid.kots })),
  )
  return sum === null ? null : derived(sum)
}

function readyBook(payouts: Payouts, titles: Titles | null, view: View): Html | null {
  const rows = prizesIn(payouts, 'payable', 'awaiting_claim')
  if (rows.length === 0) return null
  return html`<section>
    ${sectionHead('Can be paid now', html`<span>longest wait first</span>`)}
    ${book(
      rows.slice(0, LINES_SHOWN).map((row) => {
        const { availableAt } = row.unpaid
        return lineOf(row, titles, {
          when: nearMoment(availableAt, view),
          wait: html`for ${spanFrom(availableAt, view)}`,
        })
      }),
      listOf(titles),
    )}
    ${moreNote(rows, payouts, view)}
  </section>`
}

function overpaidBook(payouts: Payouts, titles: Titles | null, view: View): Html | null {
  const rows = prizesIn(payouts, 'overpaid')
  if (rows.length === 0) return null
  return html`<section>
    ${sectionHead('More was paid or has expired than was won', null)}
    ${book(
      rows.slice(0, LINES_SHOWN).map((row) => {
        const { availableAt } = row.unpaid
        return lineOf(row, titles, { when: nearMoment(availableAt, view), wait: spanFrom(availableAt, view) })
      }),
      listOf(titles),
    )}
    ${moreNote(rows, payouts, view)}
  </section>`
}

type LineTimes = Readonly<{ when: Part; wait: Part }>

function lineOf({ unpaid, index }: IndexedPrize, titles: Titles | null, { when, wait }: LineTimes): BookLine {
  const { contestId, kind, status, kots } = unpaid
  const state = html`${stateChip(status)}<span class="fold"> · ${wait}</span>`
  const words =
    titles === null
      ? { what: kindName(kind), small: state }
      : {
          what: contestLink(contestId, titles.get(contestId) ?? null),
          small: html`${kindName(kind)} <span class="fold">· </span>${state}`,
        }
  return { when, ...words, amount: amountHtml(kots), row: `/unpaid/${index}`, key: unpaidKey(unpaid) }
}

function listOf(titles: Titles | null): Readonly<{ list: string; fields: string; most: number }> {
  const contest = titles === null ? '' : 'contestId '
  return {
    list: '/unpaid',
    fields: `availableAt ${contest}kind status availableAt kots`,
    most: LINES_SHOWN,
  }
}

function moreNote(
  rows: readonly Unpaid[] | readonly IndexedPrize[],
  payouts: Payouts,
  view: View,
): Html | null {
  if (rows.length <= LINES_SHOWN) return null
  const has = isWholeList(payouts, view) ? 'have them all' : 'have more, and link to the next rows'
  return html`<p class="quiet">Not all are shown here: the CSV and the JSON below ${has}.</p>`
}

/** Stable key of a line. A contest may have several lines. */
function unpaidKey({ contestId, kind, status, unlocksAtMs, reviewUntilMs, availableAtMs }: Unpaid): string {
  return [contestId, kind, status, unlocksAtMs, reviewUntilMs, availableAtMs].join(' ')
}

/** Days in the chart, from today. The table also has later ones. */
const DAYS_DRAWN = 30

type Day = Readonly<{ startMs: number; rows: readonly IndexedPrize[]; total: Derived }>

/** Rows grouped by the day on which they become available, with the day's total. */
function daysOf(rows: readonly IndexedPrize[]): readonly Day[] {
  const byDay = Map.groupBy(rows, ({ unpaid }) => floorTo(msOf(unpaid.availableAtMs), DAY_MS))
  return [...byDay].flatMap(([startMs, placed]) => {
    const total = sumOfDay(placed)
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
  return chartPicture({ title, asOf: payouts.asOf, range }, [barPlot({ ...bars, size: 'tall' })], view)
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

function sumOfDay(rows: readonly IndexedPrize[]): Derived | null {
  return derivedSum(
    rows.map(({ unpaid, index }) => ({ pointer: `/unpaid/${index}/kots`, figure: unpaid.kots })),
  )
}

/** Unpaid prize with its index in the answer. */
type IndexedPrize = Readonly<{ unpaid: Unpaid; index: number }>

/** Prizes in these states, the soonest first. */
function prizesIn({ unpaid }: Payouts, ...states: readonly UnpaidStatus[]): readonly IndexedPrize[] {
  return unpaid
    .map((one, index) => ({ unpaid: one, index }))
    .filter((one) => states.includes(one.unpaid.status))
    .toSorted((a, b) => a.unpaid.availableAtMs - b.unpaid.availableAtMs)
}

/** Prizes that wait for a date, the soonest first. */
export function waitingIn(payouts: Payouts): readonly IndexedPrize[] {
  return prizesIn(payouts, 'locked', 'in_review')
}
