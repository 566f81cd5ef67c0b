import type { ContestWire, Payouts, Unpaid } from '../../../protocol/endpoints/contest-endpoints.ts'
import type { UnpaidStatus } from '../../../protocol/enumerations.ts'
import { amountHtml } from '../../markup/amount-html.ts'
import { book, type BookLine, sectionHead } from '../../markup/book.ts'
import { type Html, html } from '../../markup/html.ts'
import { kindName, stateChip, waitsForDate } from '../../markup/kind-words.ts'
import { nearMoment, untilMoment } from '../../markup/moment-html.ts'
import type { LinkedAnswer, View } from '../../frame/page.ts'

/** Rows that the page asks for, and lines that it shows of them. `/payouts` has all. */
export const UNPAID_ASKED = 200
const LINES_SHOWN = 10

const REASONS: Readonly<Record<UnpaidStatus, string>> = {
  locked: 'Locked by the platform’s rules.',
  in_review: 'The operator is checking that the contest followed its rules.',
  awaiting_claim: 'It can be paid as soon as its winner asks for it on the platform.',
  payable: 'The platform can pay this now.',
  overpaid: 'More was paid or has expired than was won, because a prize was corrected afterwards.',
}

/** Lines of what is won and not paid: the date, whose prize, why it waits, how long and how much. */
export function whatWaits(unpaid: LinkedAnswer<Payouts>, { id }: ContestWire, view: View): Html | null {
  const { address, answer } = unpaid
  if (answer.unpaid.length === 0) return null
  const rows = answer.unpaid
    .map((one, index) => ({ one, index }))
    .toSorted(
      (a, b) =>
        Number(waitsForDate(b.one)) - Number(waitsForDate(a.one)) ||
        a.one.availableAtMs - b.one.availableAtMs,
    )
  const isCut = rows.length > LINES_SHOWN || answer.next !== null
  const lines = rows
    .slice(0, LINES_SHOWN)
    .map(({ one, index }) => lineOf(one, `${address}#/unpaid/${index}`, view))
  const calendar = answer.unpaid.some(waitsForDate)
    ? html`<a href="/payouts.ics?contestId=${id}" data-chrome>Add to a calendar</a>`
    : null
  return html`${sectionHead('What waits, and why', calendar)}
  ${book(lines, {
    list: `${address}#/unpaid`,
    fields: 'availableAt kind status availableAt? kots',
    ...(isCut ? { most: LINES_SHOWN } : {}),
  })}
  ${
    isCut
      ? html`<p>
          Only the first are shown here.
          <a href="/payouts?contestId=${id}">See all that waits</a>, or
          <a href="/payouts.csv?contestId=${id}">as CSV</a>.
        </p>`
      : null
  }`
}

function lineOf(one: Unpaid, row: string, view: View): BookLine {
  const { status, kind, kots, availableAt } = one
  const moment = nearMoment(availableAt, view)
  const until = waitsForDate(one) ? untilMoment(availableAt, view) : null
  return {
    row,
    when: waitsForDate(one) ? moment : html`since ${moment}`,
    what: html`<b>${kindName(kind)}</b>: ${stateChip(status)}`,
    small: html`${REASONS[status]}${until === null ? null : html` Can be paid ${until}.`}`,
    amount: amountHtml(kots),
  }
}
