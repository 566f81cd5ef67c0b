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
import { greatestIndex } from '../../markup/chart-scale.ts'
import { dayMark } from '../../charts/chart-time.ts'
import { barPlot } from '../../charts/chart-line.ts'

/** Maximum lines of a book on a page. Exports and the next pages have more. */
const LINES_SHOWN = 100

/** Contests' titles by id; null on the page of one contest. */
export type Titles = ReadonlyMap<number, string | null>

/** Books of unpaid prizes: those that wait, by day; those that can be paid; those of which too much was paid. */
export function unpaidBooks(payouts: Payouts, titles: Titles | null, view: View): Html {
  const { totals } = payouts
  const [waiting, ready] = [waitingIn(payouts), prizesIn(payouts, 'payable', 'awaiting_claim')]
  const isPart = isPositive(totals.payable) || isPositive(totals.awaiting_claim)
  const bookOf = (
    heading: string,
    note: string | null,
    rows: readonly IndexedPrize[],
    lines: readonly BookLine[],
  ): Html | null => {
    if (rows.length === 0) return null
    return html`<section>
      ${sectionHead(heading, note === null ? null : html`<span>${note}</span>`)}
      ${book(lines, listOf(titles))} ${moreNote(rows, payouts, view)}
    </section>`
  }
  const linesOf = (rows: readonly IndexedPrize[]): readonly BookLine[] =>
    rows.slice(0, LINES_SHOWN).map((row) => {
      const { availableAt } = row.unpaid
      const span = spanFrom(availableAt, view)
      return lineOf(row, titles, { when: nearMoment(availableAt, view), wait: html`for ${span}` })
    })
  const over = prizesIn(payouts, 'overpaid')
  return html`${bookOf(
    isPart ? 'When the rest can be paid' : 'When they can be paid',
    'days in UTC',
    waiting,
    dayLines(payouts, waiting, titles, view),
  )}
  ${bookOf('Can be paid now', 'longest wait first', ready, linesOf(ready))}
  ${bookOf('More was paid or has expired than was won', null, over, linesOf(over))}`
}

/** Lines by day. A day has its sum, unless some of its prizes may be missing here. */
function dayLines(
  payouts: Payouts,
  rows: readonly IndexedPrize[],
  titles: Titles | null,
  view: View,
): readonly BookLine[] {
  const whole = isWholeList(payouts, view)
  const lines: BookLine[] = []
  let left = LINES_SHOWN
  for (const { startMs, rows: ofDay, total } of daysOf(rows)) {
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
        amount: whole ? derived(total) : null,
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

/** Days in the picture, from today. */
const DAYS_DRAWN = 30

type Day = Readonly<{ startMs: number; rows: readonly IndexedPrize[]; total: Derived }>

/** Rows grouped by the day on which they become available, with the day's total. */
function daysOf(rows: readonly IndexedPrize[]): readonly Day[] {
  const byDay = Map.groupBy(rows, ({ unpaid }) => floorTo(msOf(unpaid.availableAtMs), DAY_MS))
  return [...byDay].flatMap(([startMs, placed]) => {
    const total = derivedSum(
      placed.map(({ unpaid, index }) => ({ pointer: `/unpaid/${index}/kots`, figure: unpaid.kots })),
    )
    return total === null ? [] : [{ startMs, rows: placed, total }]
  })
}

/** Picture of the amounts that become available on each of the next days. */
export function daysPicture(payouts: Payouts, title: string, view: View): Html {
  const from = floorTo(msOf(payouts.now.atMs), DAY_MS)
  const starts = Array.from({ length: DAYS_DRAWN }, (_, index) => from + index * DAY_MS)
  const totals = new Map(daysOf(waitingIn(payouts)).map(({ startMs, total }) => [startMs, total.figure]))
  const figures = starts.map((startMs) => totals.get(startMs) ?? '0.000000000')
  const most = greatestIndex(figures)
  const dayAt = (index: number): string => formatAt(boundOf(starts[index] ?? 0)).slice(0, 10)
  const isWhole = isWholeList(payouts, view)
  const part = isWhole ? '' : ', for part of the unpaid prizes'
  const rows = isWhole ? '' : `, of ${payouts.unpaid.length} rows, and there are more`
  const plot = barPlot({
    id: 'days',
    title: `What becomes available day by day${part}, ${view.site.token}`,
    description: `The total of each of the next thirty days${part}. ${most === null ? 'Nothing waits for a date.' : `The most becomes available on ${dayAt(most)}.`}`,
    bars: figures.map((figure, index) => ({ label: dayMark(starts[index] ?? 0), figure })),
    size: 'tall',
  })
  const range = `${dayAt(0)} to ${dayAt(DAYS_DRAWN - 1)}${rows}`
  return chartPicture({ title, asOf: payouts.asOf, range }, [plot], view)
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
