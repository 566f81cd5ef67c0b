import type { EventWire } from '../../../protocol/event.ts'
import type { Flows, Summary } from '../../../protocol/endpoints/figure-endpoints.ts'
import type { AnswerTable } from '../../../serve/http/csv.ts'
import { askEndpoint, firstEvent, jsonLinks } from '../../frame/linked-answers.ts'
import type { EndpointPage, LinkedAnswer, View } from '../../frame/page.ts'
import { asOfLine } from '../../frame/page-parts.ts'
import {
  amountHtml,
  countHtml,
  eventLink,
  headlineAmount,
  isPositive,
  priceHtml,
} from '../../markup/amount-html.ts'
import { type Html, html } from '../../markup/html.ts'
import { longMomentText, momentOf, momentText } from '../../markup/moment-html.ts'
import { plainText } from '../../markup/page-lead.ts'
import type { Site } from '../../markup/site.ts'
import { type LinkPreview, previewDate } from '../../preview/link-preview.ts'
import { drawableToken } from '../../preview/preview-font.ts'
import { askReopened, askUnpaidTotals, headline } from './settled-headline.ts'
import { derived, minus, type Term, waitingSum } from '../../markup/derived.ts'
import { chartPicture } from '../../charts/chart-picture.ts'
import { FLOW_NAMES, flowsPlot, unfinishedIn } from '../ranges/flows-chart.ts'
import {
  boundOf,
  DAY_MS,
  floorTo,
  formatAt,
  HOUR_MS,
  MINUTE_MS,
  type Ms,
  parseAt,
} from '../../../protocol/moment.ts'

/** `/summary`: every figure of the summary in a table, now or as of a past moment. */
export const summaryPage: EndpointPage<'summary'> = {
  endpoint: 'summary',
  island: 'summary',
  // The permalink of a current page is the moment of its last event.
  permalink: ({ asOf }, { query }) =>
    query.has('at') || asOf.at === null ? `/summary${query.format()}` : `/summary?at=${asOf.at}`,
  title: (_, { query }) => {
    const at = query.time('at')
    return at === undefined ? 'Every figure' : `Every figure at ${longMomentText(at)}`
  },
  description: (summary, { site }) => (summary.asOf.seq === 0 ? null : figuresIn(summary, site)),
  csv: tableOf,
  svg: flowsPicture,
  preview: previewOf,
  async render(summary, view) {
    const first = (await firstEvent(view))?.answer ?? null
    const before = await askDayBefore(summary, view)
    return html`${nothingYet(summary, first)} ${asOfLine(summary.asOf, view)}
      <div class="two">
        <section>${figureTable(summary, before, view)}</section>
        <aside aria-label="Other moments">
          ${timeTravel(summary, first, view)} ${view.query.has('at') ? correctionsSince(summary) : null}
        </aside>
      </div>`
  },
}

function nothingYet({ asOf }: Summary, first: EventWire | null): Html | null {
  if (asOf.seq > 0) return null
  if (first === null) {
    return html`<p class="lead">Nothing has happened yet. This page shows each figure as it changes.</p>`
  }
  const pointer = '/api/v1/events/1#'
  return html`<p class="lead" data-at="${pointer}/seq ${pointer}/at">
    At that moment nothing had been published. The first event is ${eventLink(first.seq)}, of
    ${momentOf(first.at)};
    <a href="/summary?at=${first.at}">see the state after it</a>.
    <a data-json href="/api/v1/events/1">JSON of the first event</a>
  </p>`
}

type Figure = string | number | null

const PRICE = '/tokenPriceUsd'

/** Every figure of the summary in the page's order, with its JSON pointer. Amounts are in the token. */
const FIGURES: readonly (readonly [pointer: string, label: string, of: (summary: Summary) => Figure])[] = [
  ['/spentOnPlay', FLOW_NAMES.spentOnPlay, (one) => one.spentOnPlay],
  ['/paidInPrizes', FLOW_NAMES.paidInPrizes, (one) => one.paidInPrizes],
  ['/prizesNotRedeemed', 'Prizes not yet paid', (one) => one.prizesNotRedeemed],
  ['/runningPools', 'In running pools', (one) => one.runningPools],
  ['/burned', FLOW_NAMES.burned, (one) => one.burned],
  ['/treasury', 'Treasury', (one) => one.treasury],
  ['/loyaltyFund', 'Loyalty fund', (one) => one.loyaltyFund],
  ['/paidInLoyalty', FLOW_NAMES.paidInLoyalty, (one) => one.paidInLoyalty],
  ['/refunded', FLOW_NAMES.refunded, (one) => one.refunded],
  ['/expired', FLOW_NAMES.expired, (one) => one.expired],
  ['/sponsored', FLOW_NAMES.sponsored, (one) => one.sponsored],
  ['/deposited', FLOW_NAMES.deposited, (one) => one.deposited],
  ['/withdrawn', FLOW_NAMES.withdrawn, (one) => one.withdrawn],
  [PRICE, 'Token price, USD', (one) => one.tokenPriceUsd],
  ['/entries', 'Entries', (one) => one.entries],
  ['/plays', 'Plays', (one) => one.plays],
  ['/payouts', 'Payments', (one) => one.payouts],
  ['/events', 'Events', (one) => one.events],
  ['/contests/upcoming', 'Contests to come', ({ contests }) => contests.upcoming],
  ['/contests/running', 'Contests running', ({ contests }) => contests.running],
  ['/contests/paying', 'Contests paying', ({ contests }) => contests.paying],
  ['/contests/paid', 'Contests settled', ({ contests }) => contests.paid],
]

/** Every figure of the summary with its change over the last 24 hours. */
function figureTable(summary: Summary, before: LinkedAnswer<Summary> | null, { site, query }: View): Html {
  const rows = FIGURES.map(([pointer, label, of]) => {
    const [now, was] = [of(summary), before === null ? null : of(before.answer)]
    const isAmount = typeof now === 'string' && pointer !== PRICE
    return html`<tr data-key="${label}">
      <th scope="row">${label}${isAmount ? `, ${site.token}` : null}</th>
      <td class="r" data-at="${pointer}">
        ${now === null ? UNKNOWN : pointer === PRICE ? priceHtml(String(now)) : amountHtml(String(now))}
      </td>
      <td class="r" data-label="in 24 hours">
        ${
          now === null || was === null || before === null
            ? UNKNOWN
            : changeOf({ pointer, figure: now }, { pointer: `${before.address}#${pointer}`, figure: was })
        }
      </td>
    </tr>`
  })
  return html`<div class="wide" role="region" aria-label="Every figure" tabindex="0">
      <table class="cards">
        <thead>
          <tr>
            <th scope="col">Figure</th>
            <th scope="col" class="r">${query.has('at') ? 'Then' : 'Now'}</th>
            <th scope="col" class="r">Change in ${DAY}</th>
          </tr>
        </thead>
        <tbody>
          ${rows}
        </tbody>
      </table>
    </div>
    ${
      before === null
        ? null
        : html`<p class="quiet">
              Each change is over the
              ${query.has('at') ? html`${DAY} before that moment` : html`last ${DAY}`}.
            </p>
            ${jsonLinks([['the day before', before]])}`
    }`
}

/** Change over the last 24 hours, with its sign. */
function changeOf(now: Term, then: Term): Html {
  const change = minus(now, then)
  return html`${isPositive(change.figure) ? '+' : ''}${derived(change)}`
}

const UNKNOWN = html`<span class="none">not known</span>`

/** Digits that are no figure of an answer. */
const DAY = html`<span data-chrome>24 hours</span>`

/** Summary of a day before; null before the first event. A current page is made each minute. */
export async function askDayBefore({ asOf }: Summary, view: View): Promise<LinkedAnswer<Summary> | null> {
  if (asOf.atMs === null) return null
  const moment = view.query.time('at') ?? floorTo(view.now, MINUTE_MS)
  return askEndpoint(view, 'summary', { query: `at=${formatAt(boundOf(Math.max(0, moment - DAY_MS)))}` })
}

/**
 * Links and forms to the summary of another moment: steps, date and time, and a slider for browsers with scripts. Only
 * past views have later steps.
 */
function timeTravel({ asOf }: Summary, first: EventWire | null, view: View): Html | null {
  const launch = first === null ? undefined : parseAt(first.at)
  if (launch === undefined) return null
  const asked = view.query.time('at')
  const shown = asked ?? boundOf(asOf.atMs ?? launch)
  const steps = STEPS.flatMap(([label, ms]) => {
    const at = floorTo(boundOf(shown + ms), HOUR_MS)
    return at < launch || (ms > 0 && asked === undefined) ? [] : [{ label, at }]
  })
  return html`<div class="travel" data-chrome>
    <h2>Travel in time</h2>
    ${slider(launch, shown, asked === undefined)}
    <div class="ask">
      <nav aria-label="Other moments" class="buttons">
        ${steps.map(({ label, at }) => html`<a class="button" href="${summaryAt(at)}">${label}</a>`)}
        ${asked === undefined ? null : html`<a class="button" href="/summary">Now</a>`}
      </nav>
      <form class="ask" method="get" action="/summary">
        <label
          >The state at, UTC
          <input
            type="datetime-local"
            name="at"
            required
            min="${formatAt(launch).slice(0, 16)}"
            value="${formatAt(shown).slice(0, 16)}"
          /> </label
        ><button>Show</button>
      </form>
    </div>
    <p class="quiet">The history begins at ${momentText(first?.at ?? '')}.</p>
  </div>`
}

/** Slider over the history. Hidden until a script shows it, because only a script can label its moments. */
function slider(launch: Ms, shown: Ms, present: boolean): Html | null {
  const step = shown - launch <= HOURLY_MS_MAX ? HOUR_MS : DAY_MS
  const from = boundOf(floorTo(launch, step) + step)
  const to = floorTo(shown, step)
  // There is no moment to choose before the first full step after the launch.
  if (from > to) return null
  return html`<form method="get" action="/summary" data-slider="${present ? 'present' : 'past'}" hidden>
    <label for="moment"
      >Moment: <output for="moment">${present ? 'now' : momentText(formatAt(to))}</output>. Drag and release,
      or use the arrow keys and press Enter.</label
    >
    <input
      id="moment"
      type="range"
      name="at"
      min="${from}"
      max="${to}"
      step="${step}"
      value="${to}"
      autocomplete="off"
    />
  </form>`
}

/** Path of the summary at a moment on the hour. */
function summaryAt(at: Ms): string {
  return `/summary?at=${formatAt(at).slice(0, 16)}Z`
}

function correctionsSince({ asOf }: Summary): Html {
  return html`<h2>As it was known then</h2>
    <p>
      These figures are as they were known at that moment. Later corrections are not applied: each counts at
      its own moment. <a href="/events?after=${asOf.seq}&type=correction">See what was corrected since</a>.
    </p>`
}

/** Link preview of the start page: how many closed contests are settled, and the waiting amount. */
async function previewOf(summary: Summary, view: View): Promise<LinkPreview> {
  const { asOf, contests, paidInPrizes } = summary
  const token = drawableToken(view.site)
  const date = asOf.at === null ? 'Nothing is published yet' : previewDate(asOf.at)
  if (view.query.has('at')) {
    // The summary of a past moment does not tell which unpaid prizes waited.
    const paid = plainText(headlineAmount(paidInPrizes))
    return {
      headline: plainText(headline(summary, { token }, null)),
      figure: `${paid} ${token} paid in prizes`,
      date,
    }
  }
  const payouts = await askUnpaidTotals(view)
  const reopened = await askReopened(contests, view)
  const waits = waitingSum(payouts).figure
  return {
    headline: plainText(headline(summary, { token }, { payouts, reopened })),
    figure: isPositive(waits)
      ? `${plainText(headlineAmount(waits))} ${token} of prizes still wait`
      : 'No prize is waiting to be paid',
    date,
  }
}

/** Link-preview text: the main figures in a sentence. */
function figuresIn({ asOf, ...figures }: Summary, { token }: Site): string {
  const { spentOnPlay, paidInPrizes, prizesNotRedeemed, treasury } = figures
  return plainText(
    html`${amountHtml(spentOnPlay)} ${token} spent on play, ${amountHtml(paidInPrizes)} ${token} paid in
    prizes, ${amountHtml(prizesNotRedeemed)} ${token} won and not yet paid, ${amountHtml(treasury)} ${token}
    in the treasury, up to event ${countHtml(asOf.seq)}.`,
  )
}

/** One row. Names of nested fields are their paths, such as `asOf.seq`. */
function tableOf({ asOf, contests, ...figures }: Summary): AnswerTable {
  const cells = [
    ...Object.entries(asOf).map(([name, cell]) => [`asOf.${name}`, cell] as const),
    ...Object.entries(contests).map(([name, cell]) => [`contests.${name}`, cell] as const),
    ...Object.entries(figures),
  ]
  return { columns: cells.map(([name]) => name), rows: [cells.map(([, cell]) => cell)], next: null }
}

/** Chart of ninety days as a picture. Without events it shows zeros up to now. */
async function flowsPicture(summary: Summary, view: View): Promise<Html> {
  const { answer } = await askFlows(view)
  return chartPicture(
    {
      title: 'Flows by day',
      asOf: summary.asOf,
      range: `${momentText(answer.from)} to ${momentText(answer.to)}`,
      growing: unfinishedIn(answer) > 0,
    },
    [flowsPlot(answer, view.site)],
    view,
  )
}

/** Requests the flows of ninety days, up to now, or up to the last finished day at a past moment. */
export function askFlows(view: View): Promise<LinkedAnswer<Flows>> {
  const asked = view.query.time('at')
  if (asked === undefined) return askEndpoint(view, 'flows', { query: 'bucket=day' })
  // The first representable day has no day before it.
  const to = boundOf(Math.max(DAY_MS, floorTo(boundOf(asked + 1), DAY_MS)))
  const from = boundOf(Math.max(0, to - CHART_DAYS * DAY_MS))
  return askEndpoint(view, 'flows', { query: `from=${formatAt(from)}&to=${formatAt(to)}&bucket=day` })
}

/** Longest history over which the slider moves by hours; beyond it, by days. */
const HOURLY_MS_MAX = 60 * DAY_MS

const STEPS: readonly (readonly [label: string, ms: number])[] = [
  ['−1 day', -DAY_MS],
  ['−1 hour', -HOUR_MS],
  ['+1 hour', HOUR_MS],
  ['+1 day', DAY_MS],
]

/** Days in the chart, as in the default range of `/flows`. */
const CHART_DAYS = 90
