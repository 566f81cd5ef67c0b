import { ENDPOINT_PATHS } from '../../../protocol/paths.ts'
import type { Flows, Summary } from '../../../protocol/endpoints/figure-endpoints.ts'
import type { Contest, Contests, Payouts, Schedule } from '../../../protocol/endpoints/contest-endpoints.ts'
import type { EventsPage } from '../../../protocol/endpoints/event-endpoints.ts'
import { askEndpoint, jsonLinks } from '../../frame/linked-answers.ts'
import type { EndpointPage, LinkedAnswer, View } from '../../frame/page.ts'
import { asOfLine } from '../../frame/page-parts.ts'
import { book, type BookLine, facts, figures, sectionHead } from '../../markup/book.ts'
import { type Html, html } from '../../markup/html.ts'
import { plainText } from '../../markup/page-lead.ts'
import { askSuggested, searchBox } from '../find/search-box.ts'
import { rangeHtml } from '../ranges/range-words.ts'
import { dailyFlows } from '../ranges/flows-chart.ts'
import { askDayBefore, askFlows, summaryPage } from './summary-page.ts'
import {
  askReopened,
  askUnpaidTotals,
  closedSentence,
  headline,
  unpaidSentence,
  waitingHtml,
} from './settled-headline.ts'
import type { EventWire } from '../../../protocol/event.ts'
import {
  amountHtml,
  amountOrNone,
  countHtml,
  eventLink,
  headlineAmount,
  isPositive,
  isZero,
  priceHtml,
} from '../../markup/amount-html.ts'
import { contestTitleLink, NO_END, quotedText } from '../../markup/contest-name.ts'
import { onePaid, waitsForDate } from '../../markup/kind-words.ts'
import { clockMoment, nearMoment, untilMoment } from '../../markup/moment-html.ts'
import { openingList, untilPlanned } from '../schedule/opening-list.ts'
import { nounOf } from '../../../protocol/amount.ts'
import { derived, minus, type Term, waitingSum } from '../../markup/derived.ts'
import { askWaits } from '../payouts/wait-words.ts'
import { PAGE_ROWS_MAX } from '../../frame/answers.ts'

const PAYMENTS_SHOWN = 7
const NEXT_SHOWN = 3

/** `/`: today's answers for a player, from the summary and the answers that the page links. */
export const todayPage: EndpointPage<'summary'> = {
  ...summaryPage,
  path: '/',
  island: 'chart',
  async title(summary, view) {
    const payouts = await askUnpaidTotals(view)
    const reopened = await askReopened(summary.contests, view)
    return plainText(headline(summary, view.site, { payouts, reopened }))
  },
  // The heading is in the content, beside the contests that close next.
  heading: () => html``,
  description: () => null,
  // The past has a page of its own.
  redirect: ({ query }) => Promise.resolve(query.has('at') ? `/summary${query.format()}` : null),
  async render(summary, view) {
    const payouts = await askEndpoint(view, 'payouts', { query: `limit=${PAGE_ROWS_MAX}` })
    const reopened = await askReopened(summary.contests, view)
    const closing = await askEndpoint(view, 'contests', {
      query: `status=running&sort=closesAt&limit=${NEXT_SHOWN}`,
    })
    const suggested = await askSuggested(view)
    const schedule = await askEndpoint(view, 'schedule')
    const dayBefore = await askDayBefore(summary, view)
    const flows = await askFlows(view)
    const payments = await askPayments(summary, view)
    const titles = await askTitles(payments.answer.events, view)
    const proof = await proofStrip(view)
    const waits = await askWaits(view)
    const top = html`<div class="two today">
      <section>
        <h1>${headline(summary, view.site, { payouts, reopened })}</h1>
        ${unpaidSentence(summary, payouts, view)} ${closedSentence(summary, waits)}
        ${searchBox(suggested.answer)}
      </section>
      <aside aria-label="Closing next">${closingNext(closing, summary, view)}</aside>
    </div>`
    return html`${top} ${numbers(summary, { payouts, payments, flows, dayBefore }, view)}
      <div class="two">
        <section>
          ${sectionHead('Newest payments', html`<a href="/events?type=payout&order=desc">All payments</a>`)}
          ${newestPayments(payments, titles, view)}
        </section>
        <aside aria-label="Opening next">${openingNext(schedule, NEXT_SHOWN, view)}</aside>
      </div>
      ${proof}
      ${jsonLinks([
        ['unpaid prizes', payouts],
        ...(reopened === null ? [] : [['unpaid of contests that had been settled', reopened] as const]),
        ['usual waits', waits],
        ['closing next', closing],
        ['opening next', schedule],
        ['suggested titles', suggested],
        ['the chart', flows],
        ['payments', payments],
        ...(proof === null
          ? []
          : [['checkpoint', { address: ENDPOINT_PATHS.logCheckpoint, answer: null }] as const]),
        ...(dayBefore === null ? [] : [['a day before', dayBefore] as const]),
        ...[...titles.values()].map((contest) => [contestNumber(contest), contest] as const),
      ])}`
  },
}

function contestNumber({ answer, address }: LinkedAnswer<Contest>): Html {
  return html`contest <span data-at="${address}#/id">${answer.id}</span>`
}

/** The newest payments that the summary counts. */
function askPayments({ asOf }: Summary, view: View): Promise<LinkedAnswer<EventsPage>> {
  const before = asOf.seq === 0 ? '' : `&before=${asOf.seq + 1}`
  return askEndpoint(view, 'events', { query: `type=payout&order=desc${before}&limit=${PAYMENTS_SHOWN}` })
}

/** Running contests that close next, the soonest first. */
function closingNext(
  { answer, address }: LinkedAnswer<Contests>,
  { contests: { running } }: Summary,
  view: View,
): Html {
  const all = html`<a href="/contests?status=running" data-at="/contests/running"
    >${countHtml(running)} running</a
  >`
  if (answer.contests.length === 0) {
    return html`${sectionHead('Closing next')}
      <p>No contest is running now. <a href="/schedule">See what is planned</a>.</p>`
  }
  const isEndless = answer.contests.every(({ closesAt }) => closesAt === null)
  return html`${sectionHead(isEndless ? 'Running now' : 'Closing next', all)}
    <ol class="next" data-list="${address}#/contests" data-fields="title? id? closesAt? pool closesAt?">
      ${answer.contests.map(
        ({ id, title, closesAt, pool }) =>
          html`<li>
            ${contestTitleLink(id, title)} <b>${closesAt === null ? NO_END : untilPlanned(closesAt, view)}</b>
            <small>Pool ${amountHtml(pool)} ${view.site.token}</small>
            ${closesAt === null ? null : html`<small>${clockMoment(closesAt, view)}</small>`}
          </li>`,
      )}
    </ol>`
}

type Asked = Readonly<{
  payouts: LinkedAnswer<Payouts>
  payments: LinkedAnswer<EventsPage>
  flows: LinkedAnswer<Flows>
  dayBefore: LinkedAnswer<Summary> | null
}>

/** Four figures, the state, and the totals beside the chart. Empty on an empty log. */
function numbers(summary: Summary, asked: Asked, view: View): Html {
  if (asked.dayBefore === null) return asOfLine(summary.asOf, view)
  return html`${fourFigures(summary, { ...asked, dayBefore: asked.dayBefore }, view)}
    ${asOfLine(summary.asOf, view)}
    <div class="two">
      <section>
        ${sectionHead(rangeHtml(asked.flows.answer, `${asked.flows.address}#`), html`<a href="/flows">All of it</a>`)}
        ${dailyFlows(asked.flows, view.site)}
      </section>
      ${totalsAside(summary, view)}
    </div>`
}

type FigureAnswers = Readonly<{
  payouts: LinkedAnswer<Payouts>
  payments: LinkedAnswer<EventsPage>
  dayBefore: LinkedAnswer<Summary>
}>

type FigureKey = 'paidInPrizes' | 'runningPools' | 'spentOnPlay' | 'plays' | 'entries'

/** Figures of the day. Those of the last day are differences of two summaries. */
function fourFigures(summary: Summary, { payouts, payments, dayBefore }: FigureAnswers, view: View): Html {
  const { token } = view.site
  const now = (key: FigureKey): Term => ({ pointer: `/${key}`, figure: summary[key] })
  const then = (key: FigureKey): Term => ({
    pointer: `${dayBefore.address}#/${key}`,
    figure: dayBefore.answer[key],
  })
  const inADay = (key: FigureKey): Html => derived(minus(now(key), then(key)))
  const hasOnlyOverpaid = !isPositive(waitingSum(payouts).figure) && !isZero(payouts.answer.totals.overpaid)
  const playsInADay = summary.plays - dayBefore.answer.plays
  return figures([
    {
      label: 'Paid in the last day',
      figure: inADay('paidInPrizes'),
      note: html`${token} of prizes${newestPayment(payments, view)}`,
    },
    {
      label: 'Unpaid now',
      figure: hasOnlyOverpaid
        ? html`<span data-at="/prizesNotRedeemed">${amountHtml(summary.prizesNotRedeemed)}</span>`
        : waitingHtml(summary, payouts),
      note: hasOnlyOverpaid ? 'More was paid or has expired than was won' : unpaidNote(payouts, view),
    },
    {
      label: 'In running pools',
      figure: html`<span data-at="/runningPools">${amountHtml(summary.runningPools)}</span>`,
      note: changeNote(now('runningPools'), then('runningPools')),
    },
    {
      label: 'Spent in the last day',
      figure: inADay('spentOnPlay'),
      note: html`${token} in ${inADay('plays')} ${nounOf(playsInADay, 'play')}, ${inADay('entries')} of them
      entries`,
    },
  ])
}

function newestPayment({ answer, address }: LinkedAnswer<EventsPage>, view: View): Html | null {
  const [newest] = answer.events
  if (newest === undefined) return null
  return html`, the newest payment
    <span data-at="${address}#/events/0/at">${untilMoment(newest.at, view)}</span>`
}

function unpaidNote(payouts: LinkedAnswer<Payouts>, view: View): Html {
  const { answer, address } = payouts
  const { payable, awaiting_claim: claims } = answer.totals
  const total = (status: 'payable' | 'awaiting_claim'): Html =>
    html`<span data-at="${address}#/totals/${status}">${amountHtml(answer.totals[status])}</span>`
  const now = isZero(payable) ? html`Nothing can be paid now` : html`${total('payable')} can be paid now`
  const claimed = isZero(claims) ? null : html`, ${total('awaiting_claim')} to be claimed`
  return html`<a href="/payouts">${now}</a>${claimed}${moreFrom(payouts, view)}`
}

/** Next moment at which more prizes can be paid; null if it is not among the rows that the page reads. */
function moreFrom({ answer, address }: LinkedAnswer<Payouts>, view: View): Html | null {
  const waiting = answer.unpaid.map((one, index) => ({ ...one, index })).filter(waitsForDate)
  const [first, ...others] = waiting
  if (first === undefined || answer.next !== null) return null
  const soonest = others.reduce((a, b) => (b.availableAtMs < a.availableAtMs ? b : a), first)
  return html`, more from
    <span data-at="${address}#/unpaid/${soonest.index}/availableAt"
      >${nearMoment(soonest.availableAt, view)}</span
    >`
}

function changeNote(now: Term, then: Term): Html {
  const change = minus(now, then)
  if (isZero(change.figure)) return html`the same as a day ago`
  return isPositive(change.figure)
    ? html`${derived(change)} more than a day ago`
    : html`${derived(minus(then, now))} less than a day ago`
}

/** Totals since launch, and the balances of today. */
function totalsAside(summary: Summary, { site }: View): Html {
  const fact = (
    name: string,
    key:
      | Exclude<FigureKey, 'plays' | 'entries'>
      | 'paidInLoyalty'
      | 'burned'
      | 'treasury'
      | 'loyaltyFund'
      | 'prizesNotRedeemed',
  ) => [name, html`<span data-at="/${key}">${headlineAmount(summary[key])}</span>`] as const
  const { tokenPriceUsd } = summary
  return html`<aside aria-label="Totals">
    <h2>Since launch</h2>
    ${facts([
      fact('Spent on play', 'spentOnPlay'),
      fact('Paid in prizes', 'paidInPrizes'),
      fact('Loyalty reward', 'paidInLoyalty'),
      fact('Burned', 'burned'),
    ])}
    <h2>Held today</h2>
    ${facts([
      fact('Treasury', 'treasury'),
      fact('Running pools', 'runningPools'),
      fact('Loyalty fund', 'loyaltyFund'),
      fact('Prizes not yet paid', 'prizesNotRedeemed'),
    ])}
    <p class="quiet">
      All in ${site.token}.
      ${
        tokenPriceUsd === null
          ? null
          : html`<span data-at="/tokenPriceUsd"
              >One ${site.token} is ${priceHtml(tokenPriceUsd)} US dollars.</span
            >`
      }
      <a href="/summary">All figures, at any moment</a>
    </p>
  </aside>`
}

/** Contests by id, for their titles. */
type ContestAnswers = ReadonlyMap<number, LinkedAnswer<Contest>>

/** Requests the contests of these events, each once. */
async function askTitles(events: readonly EventWire[], view: View): Promise<ContestAnswers> {
  const ids = new Set(events.flatMap(({ contestId }) => (contestId === null ? [] : [contestId])))
  const asked = [...ids].map(
    async (id) => [id, await askEndpoint(view, 'contest', { segments: { id: String(id) } })] as const,
  )
  return new Map(await Promise.all(asked))
}

/** Payments as lines of the book, the newest first. */
function newestPayments(
  { answer, address }: LinkedAnswer<EventsPage>,
  contests: ContestAnswers,
  view: View,
): Html {
  if (answer.events.length === 0) return html`<p>Nothing has been paid yet.</p>`
  const lines = answer.events.map(({ seq, kind, at, contestId, kots }): BookLine => ({
    when: nearMoment(at, view),
    what: html`Paid to ${onePaid(kind)}`,
    small: html`${contestOf(contestId, contests)} event ${eventLink(seq)} · ${untilMoment(at, view)}`,
    amount: amountOrNone(kots, ''),
    key: String(seq),
  }))
  return book(lines, { list: `${address}#/events`, fields: 'at kind contestId? seq at kots' })
}

function contestOf(id: number | null, contests: ContestAnswers): Html | null {
  if (id === null) return null
  const found = contests.get(id)
  const title = found?.answer.title ?? null
  const name =
    title === null
      ? html`Contest ${id}`
      : html`<span data-at="${found?.address ?? ''}#/title">${quotedText(title)}</span>`
  return html`<a href="/contests/${id}/ledger">${name}</a> ·`
}

/** Planned contests that open next, the soonest first. */
function openingNext(opening: LinkedAnswer<Schedule>, most: number, view: View): Html {
  const planned = html`<p class="quiet"><a href="/schedule">All that is planned, as a calendar</a></p>`
  if (opening.answer.opens.length === 0) {
    return html`<h2>Opening next</h2>
      <p>No contest is planned now.</p>
      ${planned}`
  }
  return html`<h2>Opening next</h2>
    ${openingList(opening, most, view)} ${planned}`
}

/** Strip about the proof: the root of the signed checkpoint, and links to check it. */
async function proofStrip(view: View): Promise<Html | null> {
  const reply = await view.ask('logCheckpoint')
  const [, size = '', root = ''] = reply.ok ? reply.value.answer.split('\n') : []
  const lines = Number(size)
  if (!(lines > 0)) return null
  const at = `${ENDPOINT_PATHS.logCheckpoint}#`
  return html`<section class="proof">
    <div>
      <h2>Every event is signed. Check it yourself.</h2>
      <p data-at="${at}/1">
        One root hash covers ${lines === 1 ? null : 'all '}${countHtml(lines)} ${nounOf(lines, 'event')}.
        Changing, removing or inserting an event changes that hash.
      </p>
    </div>
    <code class="id" data-at="${at}/2">${root}</code>
    <a class="button main" href="/verify?seq=${lines}">Check the newest event</a>
  </section>`
}
