import type {
  Contests,
  ContestWire,
  Payouts,
  Schedule,
} from '../../../protocol/endpoints/contest-endpoints.ts'
import type { ContestStatus } from '../../../protocol/enumerations.ts'
import type { Summary } from '../../../protocol/endpoints/figure-endpoints.ts'
import { amountHtml, countHtml, isPositive, isZero } from '../../markup/amount-html.ts'
import { sectionHead, shareBar } from '../../markup/book.ts'
import {
  closesOrClosed,
  closesWord,
  contestLink,
  contestTitleLink,
  NO_END,
} from '../../markup/contest-name.ts'
import { derived, expressed, waitingSum, wholePercentOf } from '../../markup/derived.ts'
import { askEndpoint, jsonLinks } from '../../frame/linked-answers.ts'
import { type Html, html } from '../../markup/html.ts'
import { contestState, stateChip } from '../../markup/kind-words.ts'
import { nearMoment, untilMoment } from '../../markup/moment-html.ts'
import type { LinkedAnswer, View } from '../../frame/page.ts'
import { openingList } from '../schedule/opening-list.ts'
import { askReopened } from '../summary/settled-headline.ts'
import { partOf } from './contest-sums.ts'
import { spanBetween } from '../../markup/time-words.ts'

/** Contests in each list. A link leads to the others. */
const RUNNING_SHOWN = 8
const PAYING_SHOWN = 12
const TO_COME_SHOWN = 6
const SETTLED_SHOWN = 20

type Ask = Readonly<{ status: ContestStatus; most: number; sort?: string }>

function askContests({ status, most, sort }: Ask, view: View): Promise<LinkedAnswer<Contests>> {
  const order = sort === undefined ? '' : `&sort=${sort}`
  return askEndpoint(view, 'contests', { query: `status=${status}${order}&limit=${most}` })
}

/** All contests: running, paying and upcoming ones, and the newest settled ones. */
export async function contestsOverview(summary: LinkedAnswer<Summary>, view: View): Promise<Html> {
  const running = await askContests({ status: 'running', most: RUNNING_SHOWN, sort: 'closesAt' }, view)
  const paying = await askContests({ status: 'paying', most: PAYING_SHOWN, sort: 'prizesNotRedeemed' }, view)
  const settled = await askContests({ status: 'paid', most: SETTLED_SHOWN }, view)
  const isQuiet = running.answer.contests.length + paying.answer.contests.length === 0
  const unpaid = isQuiet ? await askEndpoint(view, 'payouts', { query: 'limit=1' }) : null
  const reopened = await askReopened(summary.answer.contests, view)
  const schedule = await askEndpoint(view, 'schedule')
  return html`${runningCards(running, summary, view)}
    <div class="two">
      <section>
        ${paying.answer.contests.length > 0 ? payingTable(paying, summary, view) : nonePays(unpaid, view)}
        ${reopened === null ? null : reopenedNote(reopened, view)}
      </section>
      <aside aria-label="Contests to come">${toCome(schedule, view)}</aside>
    </div>
    ${settledSection(settled, summary, view)}
    ${jsonLinks([
      ['the numbers', summary],
      ['running', running],
      ['paying out', paying],
      ...(unpaid === null ? [] : [['what waits', unpaid] as const]),
      ...(reopened === null ? [] : [['unpaid of contests that had been settled', reopened] as const]),
      ['to come', schedule],
      ['settled', settled],
    ])}`
}

/** Note that a list has more contests than it shows, from the number of its state. */
function moreOf(
  status: ContestStatus,
  most: number,
  { answer, address }: LinkedAnswer<Summary>,
): Html | null {
  const count = answer.contests[status]
  if (count <= most) return null
  return html`<p>
    <a href="/contests?status=${status}" data-at="${address}#/contests/${status}"
      >See all ${countHtml(count)}</a
    >
  </p>`
}

function runningCards(
  { answer, address }: LinkedAnswer<Contests>,
  summary: LinkedAnswer<Summary>,
  view: View,
): Html {
  const { contests } = answer
  if (contests.length === 0) {
    return html`<section>
      <h2>Running now</h2>
      <p data-at="${address}#/contests">
        No contest is running now. <a href="/schedule">See what opens next</a>.
      </p>
    </section>`
  }
  return html`<section>
    ${sectionHead('Running now', html`<span>soonest to close first</span>`)}
    <ol
      class="open-now"
      data-list="${address}#/contests"
      data-fields="closesAt? title id? pool entries openedAt|opensAt closesAt?"
      data-most="${RUNNING_SHOWN}"
    >
      ${contests.map((one) => card(one, view))}
    </ol>
    ${moreOf('running', RUNNING_SHOWN, summary)}
  </section>`
}

function card(one: ContestWire, view: View): Html {
  const { id, title, pool, entries, closesAt, closesAtMs } = one
  return html`<li data-key="${id}">
    <p>
      ${
        closesAt === null || closesAtMs === null
          ? html`<b>${NO_END}</b>`
          : html`${closesAtMs <= view.now ? 'was to close' : 'closes'} <b>${untilMoment(closesAt, view)}</b>`
      }
    </p>
    <h3>${contestTitleLink(id, title)}</h3>
    <p>
      <b class="big">${amountHtml(pool)}</b> ${view.site.token}, ${countHtml(entries)}
      ${entries === 1 ? 'entry' : 'entries'}
    </p>
    ${elapsedBar(one, view)}
    <p class="ends">
      <span>${closesAt === null ? 'since ' : null}${nearMoment(one.openedAt ?? one.opensAt, view)}</span>
      ${closesAt === null ? null : html`<span>${nearMoment(closesAt, view)}</span>`}
    </p>
  </li>`
}

/** Bar of the elapsed time of a running contest; null without an announced end. */
export function elapsedBar(
  { openedAtMs, opensAtMs, closesAtMs }: ContestWire,
  { now }: Pick<View, 'now'>,
): Html | null {
  if (closesAtMs === null) return null
  const from = openedAtMs ?? opensAtMs
  return shareBar((now - from) / Math.max(1, closesAtMs - from), 'ink')
}

/**
 * Text for a list without paying contests. A correction can reopen a prize of a settled contest. `unpaid` is null while
 * contests run, which may have unpaid prizes too.
 */
function nonePays(unpaid: LinkedAnswer<Payouts> | null, { site }: View): Html {
  const sum = unpaid === null ? null : waitingSum(unpaid)
  const said =
    sum !== null && isPositive(sum.figure)
      ? html`A correction left <a href="/payouts">${derived(sum)} ${site.token}</a> unpaid in contests that
          had been settled.`
      : unpaid === null
        ? 'No closed contest is paying out.'
        : 'Nothing waits: no closed contest has prizes to pay.'
  return html`<h2>Paying out</h2>
    <p>${said} <a href="/contests?status=paid">See those that are settled</a>.</p>`
}

/** Note below the paying contests that a correction reopened prizes of a settled one. */
function reopenedNote({ answer, address }: LinkedAnswer<Contests>, { site }: View): Html | null {
  const [most] = answer.contests
  if (most === undefined) return null
  const { id, title, prizesNotRedeemed } = most
  const shown = ['prizesNotRedeemed', ...(title === null ? [] : ['title']), 'id']
  return html`<p>
    <span data-at="${shown.map((field) => `${address}#/contests/0/${field}`).join(' ')}"
      >A correction left ${amountHtml(prizesNotRedeemed)} ${site.token} unpaid in ${contestLink(id, title)},
      which had been settled.</span
    >
    <a href="/contests?status=paid&sort=prizesNotRedeemed">See those with the most unpaid</a>.
  </p>`
}

function payingTable(
  { answer, address }: LinkedAnswer<Contests>,
  summary: LinkedAnswer<Summary>,
  view: View,
): Html {
  const { contests } = answer
  return html`${sectionHead('Paying out', html`<a href="/payouts">All that waits</a>`)}
    <table class="cards paying" data-list="${address}#/contests" data-most="${PAYING_SHOWN}">
      <thead>
        <tr>
          <th scope="col" data-field="title id?">Contest</th>
          <th scope="col" class="fold" data-field="closedAt">Closed</th>
          <th scope="col" class="fold"><span class="hidden">Share paid</span></th>
          <th scope="col" class="r" data-field="prizesRedeemed">Paid</th>
          <th scope="col" class="r" data-field="prizesNotRedeemed">Unpaid, ${view.site.token}</th>
        </tr>
      </thead>
      <tbody>
        ${contests.map((one, index) => payingRow(one, `${address}#/contests/${index}`, view))}
      </tbody>
    </table>
    ${moreOf('paying', PAYING_SHOWN, summary)}`
}

function payingRow(one: ContestWire, pointer: string, view: View): Html {
  const { id, title, closedAt, prizesOwed, prizesRedeemed, prizesNotRedeemed, outcome } = one
  const share = wholePercentOf(
    { figure: prizesRedeemed, pointer: `${pointer}/prizesRedeemed` },
    { figure: prizesOwed, pointer: `${pointer}/prizesOwed` },
  )
  return html`<tr data-row="${pointer}">
    <th scope="row" class="all">${contestTitleLink(id, title)}</th>
    <td class="fold">${closedAt === null ? null : nearMoment(closedAt, view)}</td>
    <td class="bar">${shareBar(partOf(prizesRedeemed, prizesOwed))}</td>
    ${
      outcome === 'cancelled'
        ? html`<td class="r share-paid" data-at="${pointer}/outcome">${stateChip(contestState(one))}</td>`
        : html`<td class="r share-paid" data-label="paid">${share ?? amountHtml(prizesRedeemed)}</td>`
    }
    <td class="r" data-label="unpaid">${amountHtml(prizesNotRedeemed)}</td>
  </tr>`
}

function toCome(schedule: LinkedAnswer<Schedule>, view: View): Html {
  const { opens } = schedule.answer
  if (opens.length === 0) {
    return html`<h2>To come</h2>
      <p class="quiet">No further contest is planned.</p>`
  }
  return html`<h2>To come</h2>
    ${openingList(schedule, TO_COME_SHOWN, view)}
    ${opens.length > TO_COME_SHOWN ? html`<p><a href="/schedule">The whole schedule</a></p>` : null}`
}

function settledSection(
  settled: LinkedAnswer<Contests>,
  summary: LinkedAnswer<Summary>,
  view: View,
): Html | null {
  const { contests, next } = settled.answer
  if (contests.length === 0) return null
  const count = summary.answer.contests.paid
  const said = html`<span
    >${expressed(`sum ${summary.address}#/contests/paid`, String(count))}
    ${count === 1 ? 'contest' : 'contests'}, newest first</span
  >`
  return html`<section>
    ${sectionHead('Settled', said)}
    ${settledTable(contests, { list: `${settled.address}#/contests`, most: SETTLED_SHOWN }, view)}
    ${
      next === null
        ? null
        : html`<p class="buttons" data-chrome>
            <a class="button" rel="next" href="${next.replace('/api/v1', '')}">Older contests</a>
          </p>`
    }
  </section>`
}

type Table = Readonly<{
  /** JSON pointer of the list. */
  list: string
  most: number
}>

/** Table of contests that are settled. */
function settledTable(contests: readonly ContestWire[], { list, most }: Table, view: View): Html {
  const { token } = view.site
  return html`<table class="cards" data-list="${list}" data-most="${most}">
    <thead>
      <tr>
        <th scope="col" data-field="title id?">Contest</th>
        <th scope="col" class="r fold" data-field="id">No.</th>
        <th scope="col" data-field="closedAt?">Closed</th>
        <th scope="col" class="fold">Settled</th>
        <th scope="col" class="r fold" data-field="entries">Entries</th>
        <th scope="col" class="r fold" data-field="spentOnPlay">Spent</th>
        <th scope="col" class="r" data-field="prizesRedeemed">Prizes paid, ${token}</th>
      </tr>
    </thead>
    <tbody>
      ${contests.map((one, index) => {
        const { id, title, entries, spentOnPlay, prizesRedeemed } = one
        return html`<tr>
          <th scope="row">${contestTitleLink(id, title)}</th>
          <td class="r fold quiet">${id}</td>
          ${closedCell(one, `${list}/${index}`, view)}
          <td class="fold">${laterOf(one, `${list}/${index}`)}</td>
          <td class="r fold">${countHtml(entries)}</td>
          <td class="r fold">${amountHtml(spentOnPlay)}</td>
          <td class="r" data-label="prizes">${amountHtml(prizesRedeemed)}</td>
        </tr>`
      })}
    </tbody>
  </table>`
}

/** Time of a contest's close, with its outcome unless all is paid. */
function closedCell(one: ContestWire, pointer: string, view: View): Html {
  const { closedAt, outcome } = one
  const closed = closedAt === null ? null : nearMoment(closedAt, view)
  if (outcome === 'paid') return html`<td data-label="closed">${closed}</td>`
  return html`<td data-label="closed" data-at="${pointer}/closedAt? ${pointer}/outcome">
    ${closed} ${stateChip(contestState(one))}
  </td>`
}

/** Time from the close of a contest to its `contest/paid`. */
function laterOf({ closedAt, paidAt }: ContestWire, pointer: string): Html | null {
  if (closedAt === null || paidAt === null) return null
  return html`${expressed(`span ${pointer}/closedAt ${pointer}/paidAt`, spanBetween(closedAt, paidAt))} later`
}

/** Table of contests in any state, as found by a search, a state or an order. */
export function foundTable(contests: readonly ContestWire[], { list, most }: Table, view: View): Html {
  const { token } = view.site
  return html`<table class="cards found" data-list="${list}" data-most="${most}">
    <thead>
      <tr>
        <th scope="col" data-field="title id?">Contest</th>
        <th scope="col" class="r fold" data-field="id">No.</th>
        <th scope="col" data-field="outcome|status">State</th>
        <th scope="col" data-field="closedAt|closesAt">Closes or closed</th>
        <th scope="col" class="r fold" data-field="entries">Entries</th>
        <th scope="col" class="r" data-field="pool">Pool, ${token}</th>
        <th scope="col" class="r fold">Paid</th>
        <th scope="col" class="r" data-field="prizesNotRedeemed">Unpaid, ${token}</th>
      </tr>
    </thead>
    <tbody>
      ${contests.map((one, index) => {
        const { id, title, entries, pool, prizesNotRedeemed } = one
        return html`<tr>
          <th scope="row" class="all">${contestTitleLink(id, title)}</th>
          <td class="r fold quiet">${id}</td>
          <td>${stateChip(contestState(one))}</td>
          <td data-label="${closesWord(one)}">${closesOrClosed(one, view)}</td>
          <td class="r fold">${countHtml(entries)}</td>
          <td class="r" data-label="pool">${amountHtml(pool)}</td>
          <td class="r fold">${shareOf(one, `${list}/${index}`)}</td>
          <td class="r" data-label="unpaid">${amountHtml(prizesNotRedeemed)}</td>
        </tr>`
      })}
    </tbody>
  </table>`
}

function shareOf({ outcome, prizesRedeemed, prizesOwed }: ContestWire, pointer: string): Html {
  const share = wholePercentOf(
    { figure: prizesRedeemed, pointer: `${pointer}/prizesRedeemed` },
    { figure: prizesOwed, pointer: `${pointer}/prizesOwed` },
  )
  if (share !== null) return share
  // Payments of a prize that a correction cancelled remain when nothing is owed.
  if (!isZero(prizesRedeemed)) {
    return html`<span data-at="${pointer}/prizesRedeemed">${amountHtml(prizesRedeemed)}</span>`
  }
  return html`<span class="none">${outcome === null ? 'nothing won yet' : 'nothing was won'}</span>`
}
