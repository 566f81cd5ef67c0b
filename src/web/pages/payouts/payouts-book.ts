import { DAY_MS, floorTo, msOf } from '../../../protocol/moment.ts'
import type { Payouts, Unpaid } from '../../../protocol/endpoints/contest-endpoints.ts'
import type { View } from '../../frame/page.ts'
import { isWholeList } from '../../frame/page-rows.ts'
import { amountHtml, isPositive } from '../../markup/amount-html.ts'
import { book, type BookLine, sectionHead } from '../../markup/book.ts'
import { contestLink } from '../../markup/contest-name.ts'
import { derived, derivedSum } from '../../markup/derived.ts'
import { type Html, html, type Part } from '../../markup/html.ts'
import { kindName, stateChip } from '../../markup/kind-words.ts'
import { hourOf, nearDay, nearMoment, spanFrom, untilMoment } from '../../markup/moment-html.ts'
import { type IndexedPrize, prizesIn, waitingIn } from './payouts-headline.ts'

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
