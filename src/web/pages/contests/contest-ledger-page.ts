import { answerTable } from '../../../serve/api/answer-tables.ts'
import type {
  ContestLedger,
  ContestWire,
  Payouts,
  Unpaid,
} from '../../../protocol/endpoints/contest-endpoints.ts'
import type { UnpaidStatus } from '../../../protocol/enumerations.ts'
import { amountHtml, countHtml, eventLink, isZero } from '../../markup/amount-html.ts'
import {
  book,
  type BookLine,
  explorersNote,
  facts,
  sectionHead,
  shortTransaction,
} from '../../markup/book.ts'
import { contestName, quotedText } from '../../markup/contest-name.ts'
import { askEndpoint, jsonLinks } from '../../frame/linked-answers.ts'
import { type Html, html, type Part } from '../../markup/html.ts'
import {
  contestState,
  kindName,
  onePaid,
  stateChip,
  stateInWords,
  waitsForDate,
  whoWins,
} from '../../markup/kind-words.ts'
import type { EndpointPage, LinkedAnswer, View } from '../../frame/page.ts'
import { paidChart, paidPicture } from './paid-chart.ts'
import { askTimeline, courseOf } from './contest-course.ts'
import { contestPreview, contestVerdict } from './contest-verdict.ts'
import type { EventWire } from '../../../protocol/event.ts'
import { cellMoment, nearMoment, untilMoment } from '../../markup/moment-html.ts'
import { expressed } from '../../markup/derived.ts'
import { listed } from '../../markup/prose.ts'
import { paymentCheck, poolAccount, prizeTable } from './contest-sums.ts'
import {
  askWaits,
  lateNote,
  lateWord,
  type UsualWaits,
  usualWaits,
  usualWithin,
  waited,
} from '../payouts/wait-words.ts'
import { isWholeList, PAGE_ROWS_MAX } from '../../frame/answers.ts'

/** `/contests/{id}/ledger`: whether a contest's prizes are paid, which wait and why, and every payment. */
export const contestLedgerPage: EndpointPage<'contestLedger'> = {
  endpoint: 'contestLedger',
  island: 'chart',
  rowsMax: PAGE_ROWS_MAX,
  title: ({ contest }) => contestName(contest.id, contest.title),
  csv: (answer) => answerTable('contestLedger', answer),
  svg: paidPicture,
  preview: contestPreview,
  previewRowsMax: 1,
  heading: ({ contest: { id, title } }) =>
    html`<p class="crumb"><a href="/contests">Contests</a> / <span data-at="/contest/id">${id}</span></p>
      <h1 class="name">${title === null ? `Contest ${id}` : quotedText(title)}</h1>`,
  async render(ledger, view) {
    const { contest, payouts } = ledger
    const timeline = await askTimeline(contest, view)
    const isOpen =
      contest.status === 'paying' || ledger.prizes.some(({ notRedeemed }) => !isZero(notRedeemed))
    const unpaid = isOpen
      ? await askEndpoint(view, 'payouts', { query: `contestId=${contest.id}&limit=${UNPAID_ASKED}` })
      : null
    const waits = unpaid === null || contest.outcome !== null ? null : await askWaits(view)
    const paid = payouts.length > 0
    const isWon = ledger.prizes.length > 0
    return html`<div class="two contest">
        <section>
          ${contestVerdict({ ledger, unpaid, view })}
          ${unpaid === null ? null : waitOf(contest, { unpaid, waits })}
          ${unpaid === null ? null : whatWaits({ unpaid, waits }, contest, view)} ${prizeTable(ledger, view)}
          ${isWon ? null : poolAccount(ledger, view)}
        </section>
        <aside aria-label="Facts">${factsOf(ledger)} ${courseOf({ ledger, timeline, unpaid }, view)}</aside>
      </div>
      ${
        paid
          ? html`<div class="two" id="payments">
              <section>${paymentsOf(ledger, view)}</section>
              <aside aria-label="Check of the sums">
                ${paidChart(ledger, view)} ${paymentCheck(ledger, view)}
              </aside>
            </div>`
          : null
      }
      ${isWon ? poolAccount(ledger, view) : null}
      ${jsonLinks([
        ...(unpaid === null ? [] : [['what waits', unpaid] as const]),
        ...(waits === null ? [] : [['usual waits', waits] as const]),
        ['its course', timeline],
      ])}`
  },
}

function factsOf({ contest, prizes }: ContestLedger): Html {
  const state = shownAt(
    `/contest/${contest.outcome === null ? 'status' : 'outcome'}`,
    stateChip(contestState(contest)),
  )
  const amount = (field: 'prizesOwed' | 'pool' | 'spentOnPlay'): Html =>
    shownAt(`/contest/${field}`, amountHtml(contest[field]))
  const won: readonly (readonly [Part, Part])[] =
    prizes.length === 0 ? [] : [['Prizes won', amount('prizesOwed')]]
  return facts([
    ['State', state],
    ...won,
    ['Pool', amount('pool')],
    ['Entries', shownAt('/contest/entries', countHtml(contest.entries))],
    ['Plays', shownAt('/contest/plays', countHtml(contest.plays))],
    ['Spent on play', amount('spentOnPlay')],
  ])
}

function shownAt(pointer: string, figure: Html): Html {
  return html`<span data-at="${pointer}">${figure}</span>`
}

/** Waits of paid contests, that of this one, and whose turn it is; null without a measure. */
function waitOf({ closedAtMs }: ContestWire, { unpaid, waits }: Waiting): Html | null {
  if (closedAtMs === null || waits === null) return null
  return usualWaits(
    waits,
    html`This one has waited ${waited('/contest/closedAt', closedAtMs, waits)}. ${turnOf(unpaid)}`,
  )
}

/** The ones who act next when no part waits for a date; null otherwise, or if a part may be missing here. */
function turnOf({ address, answer }: LinkedAnswer<Payouts>): Html | null {
  const rows = answer.unpaid.map((one, index) => ({ ...one, at: `${address}#/unpaid/${index}` }))
  if (answer.next !== null || rows.some(waitsForDate)) return null
  const ready = rows.find(({ status }) => status === 'payable')
  const claims = rows.filter(({ status }) => status === 'awaiting_claim')
  const kinds = [...new Map(claims.map((row) => [row.kind, row])).values()]
  const platform =
    ready === undefined
      ? []
      : [html`the platform <span data-at="${ready.at}/status">${stateInWords('payable', 'to pay it')}</span>`]
  const winners =
    kinds.length === 0
      ? []
      : [
          html`<span data-at="${kinds.map(({ at }) => `${at}/kind`).join(' ')} ${kinds[0]?.at ?? ''}/status"
            >${listed(kinds.map(({ kind }) => whoWins(kind)))}
            ${stateInWords('awaiting_claim', 'to ask for it')}</span
          >`,
        ]
  const turns = [...platform, ...winners]
  return turns.length === 0 ? null : html`What is left waits for ${listed(turns)}.`
}

/** Unpaid prizes of a contest, and the usual waits; null when they are no measure for it. */
type Waiting = Readonly<{ unpaid: LinkedAnswer<Payouts>; waits: UsualWaits | null }>

/** Lines of unpaid prizes: date, prize, reason, wait and amount. */
function whatWaits({ unpaid, waits }: Waiting, { id }: ContestWire, view: View): Html | null {
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
    .map(({ one, index }) => lineOf(one, `${address}#/unpaid/${index}`, waits, view))
  const calendar = answer.unpaid.some(waitsForDate)
    ? html`<a href="/payouts.ics?contestId=${id}" data-chrome>Add to a calendar</a>`
    : null
  return html`${sectionHead('What waits, and why', calendar)}
  ${book(lines, {
    list: `${address}#/unpaid`,
    fields: 'availableAt kind status availableAt? kots',
    ...(isCut ? { most: LINES_SHOWN } : {}),
  })}
  ${lateNote(answer.unpaid, waits)}
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

function lineOf(one: Unpaid, row: string, waits: UsualWaits | null, view: View): BookLine {
  const { status, kind, kots, availableAt } = one
  const moment = nearMoment(availableAt, view)
  const until = waitsForDate(one) ? untilMoment(availableAt, view) : null
  const late = lateWord(row, one, waits)
  return {
    row,
    when: waitsForDate(one) ? moment : html`since ${moment}`,
    what: html`<b>${kindName(kind)}</b>: ${stateChip(status)}${late === null ? null : html` ${late}`}`,
    small: html`${REASONS[status]}${status === 'payable' && waits !== null ? usualWithin(kind, waits) : null}.
    ${until === null ? null : html`Can be paid ${until}.`}`,
    amount: amountHtml(kots),
  }
}

/** Payments on a page. A link leads to more; the export has all. */
const PAYMENTS_SHOWN = 100
/** Payments above the closed list of the earlier ones. */
const NEWEST_SHOWN = 8

type Payment = Readonly<{ event: EventWire; index: number }>

/** Payments with their transactions, newest first if all are known, otherwise page by page. */
function paymentsOf(ledger: ContestLedger, view: View): Html {
  const { payouts } = ledger
  const all = payouts.map((event, index): Payment => ({ event, index }))
  if (isWholeList(ledger, view)) {
    const shown = all.toReversed().slice(0, PAYMENTS_SHOWN)
    const isCut = shown.length < all.length
    const count = expressed('count /payouts', String(all.length))
    return html`${sectionHead(nameOf(ledger), html`<span>${count}, newest first</span>`)}
    ${paymentTable(shown.slice(0, NEWEST_SHOWN), view, isCut ? NEWEST_SHOWN : null)}
    ${earlier(shown.slice(NEWEST_SHOWN), isCut, ledger, view)} ${explorersNote(view.site)}`
  }
  const shown = all.slice(0, PAYMENTS_SHOWN)
  const more = shown.length < all.length || ledger.next !== null
  const { id } = ledger.contest
  // The CSV of the ledger ends after ten thousand rows; that of the log is whole.
  const csv = `/api/v1/events?contestId=${id}&type=payout,correction&format=csv`
  return html`${sectionHead(nameOf(ledger), html`<span>a part of them, in the order of their events</span>`)}
    <p class="quiet">
      These are only part of the payments, so they do not add up to what is paid.
      <a href="/contests/${id}/ledger">See them from the first on</a>, or <a href="${csv}">all as CSV</a>,
      with the contest’s other corrections.
    </p>
    ${paymentTable(shown, view, PAYMENTS_SHOWN)} ${explorersNote(view.site)}
    ${pager(id, shown.at(-1)?.event.seq, more, view)}`
}

/** Name of the lines. The corrections of payments are among them. */
function nameOf(ledger: ContestLedger): string {
  return isPlain(ledger) ? 'Payments' : 'Payments and corrections'
}

function isPlain({ payouts }: ContestLedger): boolean {
  return payouts.every(({ type }) => type === 'payout')
}

/** The payments before the newest, in a closed list. */
function earlier(
  payments: readonly Payment[],
  isCut: boolean,
  ledger: ContestLedger,
  view: View,
): Html | null {
  const { contest, payouts } = ledger
  if (payments.length === 0) return null
  const most = isCut ? PAYMENTS_SHOWN - NEWEST_SHOWN : null
  const rest = payouts.length - NEWEST_SHOWN
  const line = isPlain(ledger) ? 'payment' : 'line'
  return html`<details>
    <summary>
      ${expressed(`beyond-${NEWEST_SHOWN} /payouts`, String(rest))} earlier ${rest === 1 ? line : `${line}s`}
    </summary>
    ${paymentTable(payments, view, most)}
    ${
      isCut
        ? html`<p>
            Only the newest are shown here.
            <a href="/contests/${contest.id}/ledger?limit=${PAYMENTS_SHOWN}">Read all from the first on</a>,
            or <a href="/contests/${contest.id}/ledger.csv">as CSV</a>.
          </p>`
        : null
    }
  </details>`
}

function paymentTable(payments: readonly Payment[], view: View, most: number | null): Html {
  const { site } = view
  return html`<table
    class="cards payments"
    data-list="/payouts"
    ${most === null ? null : html`data-most="${most}"`}
  >
    <thead>
      <tr>
        <th scope="col" data-field="at">When, UTC</th>
        <th scope="col" data-field="type? kind">To</th>
        <th scope="col" class="r" data-field="kots">${site.token}</th>
        <th scope="col" class="r" data-field="tx">Transaction</th>
        <th scope="col" class="r fold" data-field="seq">Event</th>
      </tr>
    </thead>
    <tbody>
      ${payments.map(
        ({ event: { seq, at, type, kind, kots, tx }, index }) =>
          html`<tr data-row="/payouts/${index}">
            <td class="when" data-label="UTC">${cellMoment(at, view)}</td>
            <td class="to">${toWhom(type, kind)}</td>
            <td class="r">${kots === null ? null : amountHtml(kots)}</td>
            <td class="r txs">${tx === null ? null : shortTransaction(tx, site)}</td>
            <td class="r fold">${eventLink(seq)}</td>
          </tr>`,
      )}
    </tbody>
  </table>`
}

function toWhom(type: string, kind: string): Html {
  if (type === 'payout') return html`${onePaid(kind, true)}${kind === 'refund' ? ', stake given back' : null}`
  return html`Correction of a ${kind}`
}

function pager(id: number, last: number | undefined, more: boolean, { query }: View): Html | null {
  const paged = query.has('after')
  if (!paged && !more) return null
  return html`<nav aria-label="Pages of payments" class="pager" data-chrome>
    ${paged ? html`<a href="/contests/${id}/ledger?limit=${PAYMENTS_SHOWN}">First payments</a>` : null}
    ${
      more && last !== undefined
        ? html`<a rel="next" href="/contests/${id}/ledger?after=${last}&limit=${PAYMENTS_SHOWN}"
            >Later payments</a
          >`
        : null
    }
  </nav>`
}

/** Rows that the page requests, and lines that it shows of them. `/payouts` has all. */
const UNPAID_ASKED = 200
const LINES_SHOWN = 10

const REASONS: Readonly<Record<UnpaidStatus, string>> = {
  locked: 'Locked by the platform’s rules',
  in_review: 'The operator is checking that the contest followed its rules',
  awaiting_claim: 'It can be paid as soon as its winner asks for it on the platform',
  payable: 'The platform pays it without being asked',
  overpaid: 'More was paid or has expired than was won, because a prize was corrected afterwards',
}
