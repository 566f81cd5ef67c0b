import { boundOf, ceilTo, DAY_MS, floorTo, formatAt, MINUTE_MS, type Ms } from '../../../protocol/moment.ts'
import type { Flows, Funds, Summary } from '../../../protocol/endpoints/figure-endpoints.ts'
import { amountHtml, countHtml, isPositive, priceHtml } from '../../markup/amount-html.ts'
import { derived, minus, type Term } from '../../markup/derived.ts'
import { askEndpoint, jsonLinks } from '../../frame/linked-answers.ts'
import { type Html, html } from '../../markup/html.ts'
import type { LinkedAnswer, View } from '../../frame/page.ts'

/** Days before a summary of which the slider shows figures. */
const SLIDER_DAYS = 30
/** Days in the chart, as in the default range of `/flows`. */
const CHART_DAYS = 90

/** Answers about the time before a summary: the state a day earlier, and the last thirty days. */
export type EarlierAnswers = Readonly<{
  dayBefore: LinkedAnswer<Summary>
  flows: LinkedAnswer<Flows>
  /** Never immutable as a whole, since it also has the present balances. Only those of past days are shown. */
  funds: LinkedAnswer<Funds>
}>

/** Requests the answers about the time before a summary; null before the first event. */
export async function askEarlier(summary: Summary, view: View): Promise<EarlierAnswers | null> {
  const { atMs } = summary.asOf
  if (atMs === null) return null
  const asked = view.query.time('at')
  // A page of the present is rendered for each minute, also when the log is silent.
  const dayBefore = formatAt(boundOf(Math.max(0, (asked ?? floorTo(view.now, MINUTE_MS)) - DAY_MS)))
  const query = daysUpTo(asked, atMs, SLIDER_DAYS)
  return {
    dayBefore: await askEndpoint(view, 'summary', { query: `at=${dayBefore}` }),
    flows: await askEndpoint(view, 'flows', { query }),
    funds: await askEndpoint(view, 'funds', { query }),
  }
}

/** Requests the flows of ninety days: up to the present, or up to the moment of a past view. */
export function askFlows({ asOf }: Summary, view: View): Promise<LinkedAnswer<Flows>> {
  const asked = view.query.time('at')
  const query = asked === undefined ? 'bucket=day' : daysUpTo(asked, asOf.atMs ?? view.now, CHART_DAYS)
  return askEndpoint(view, 'flows', { query })
}

/** Query for days up to the requested moment, or up to the newest event. */
function daysUpTo(asked: Ms | undefined, newestMs: number, days: number): string {
  // A past view ends with the last complete day, since later events may have changed an incomplete one.
  const end =
    asked === undefined ? ceilTo(boundOf(newestMs + 1), DAY_MS) : floorTo(boundOf(asked + 1), DAY_MS)
  // The first representable day has no day before it.
  const to = boundOf(Math.max(DAY_MS, end))
  const from = boundOf(Math.max(0, to - days * DAY_MS))
  return `from=${formatAt(from)}&to=${formatAt(to)}&bucket=day`
}

type AmountKey = Exclude<FlowKey, 'tokenPriceUsd'> | FundKey | 'paidInLoyalty'
type FlowKey = 'spentOnPlay' | 'paidInPrizes' | 'burned' | 'tokenPriceUsd'
type FundKey = 'treasury' | 'runningPools' | 'loyaltyFund' | 'prizesNotRedeemed'
type DayFigures = (before: EarlierAnswers) => readonly (string | null)[]

const ofFlows =
  (key: FlowKey): DayFigures =>
  ({ flows }) =>
    // An unfinished day would look like a fall.
    flows.answer.buckets.filter(({ complete }) => complete).map((bucket) => bucket[key])

const ofFunds =
  (key: FundKey): DayFigures =>
  ({ funds }) =>
    funds.answer.buckets.map((bucket) => bucket[key])

/** Amounts in the page's order, each with its figures by day. */
const AMOUNTS: readonly (readonly [key: AmountKey, label: string, line: DayFigures | null])[] = [
  ['spentOnPlay', 'Spent on play', ofFlows('spentOnPlay')],
  ['paidInPrizes', 'Paid in prizes', ofFlows('paidInPrizes')],
  ['prizesNotRedeemed', 'Prizes not yet paid', ofFunds('prizesNotRedeemed')],
  ['runningPools', 'In running pools', ofFunds('runningPools')],
  ['burned', 'Burned', ofFlows('burned')],
  ['treasury', 'Treasury', ofFunds('treasury')],
  ['loyaltyFund', 'Loyalty fund', ofFunds('loyaltyFund')],
  ['paidInLoyalty', 'Paid as loyalty reward', null],
]

/** Counts in the page's order. */
const COUNTS: readonly (readonly [key: 'entries' | 'plays' | 'payouts' | 'events', label: string])[] = [
  ['entries', 'Entries'],
  ['plays', 'Plays'],
  ['payouts', 'Payments'],
  ['events', 'Events'],
]

/** DayLines by name with the figures of complete days, and the start of the first day. */
export function daysBefore(before: EarlierAnswers): Readonly<{ fromMs: number; lines: readonly DayLine[] }> {
  const { fromMs, buckets } = before.flows.answer
  const over = buckets.filter(({ complete }) => complete).length
  const lines = AMOUNTS.flatMap(([, label, line]): readonly DayLine[] =>
    line === null ? [] : [[label, line(before).slice(0, over)]],
  )
  return { fromMs, lines }
}

type DayLine = readonly [name: string, figures: readonly (string | null)[]]

/** Counts of contests by state. */
const CONTEST_COUNTS = [
  ['upcoming', 'Contests to come'],
  ['running', 'Contests running'],
  ['paying', 'Contests paying'],
  ['paid', 'Contests settled'],
] as const

/** Every figure of the summary with its change over the last 24 hours. */
export function figureTable(summary: Summary, before: EarlierAnswers | null, view: View): Html {
  const { contests } = summary
  const then = before?.dayBefore
  const row = (label: string, pointer: string, shown: Html, now: Figure, was: Figure | undefined): Html =>
    html`<tr data-key="${label}">
      <th scope="row">${label}</th>
      <td class="r" data-at="${pointer}">${shown}</td>
      <td class="r" data-label="in 24 hours">
        ${changeOf(
          now === null ? null : { pointer, figure: now },
          was === null || was === undefined
            ? null
            : { pointer: `${then?.address ?? ''}#${pointer}`, figure: was },
        )}
      </td>
    </tr>`
  return html`<div class="wide" role="region" aria-label="Every figure" tabindex="0">
      <table class="cards">
        <thead>
          <tr>
            <th scope="col">Figure</th>
            <th scope="col" class="r">${view.query.has('at') ? 'Then' : 'Now'}</th>
            <th scope="col" class="r">Change in ${DAY}</th>
          </tr>
        </thead>
        <tbody>
          ${AMOUNTS.map(([key, label]) =>
            row(
              `${label}, ${view.site.token}`,
              `/${key}`,
              amountHtml(summary[key]),
              summary[key],
              then?.answer[key],
            ),
          )}
          ${row(
            'Token price, USD',
            '/tokenPriceUsd',
            summary.tokenPriceUsd === null ? UNKNOWN : priceHtml(summary.tokenPriceUsd),
            summary.tokenPriceUsd,
            then?.answer.tokenPriceUsd,
          )}
          ${COUNTS.map(([key, label]) =>
            row(label, `/${key}`, countHtml(summary[key]), summary[key], then?.answer[key]),
          )}
          ${CONTEST_COUNTS.map(([key, label]) =>
            row(
              label,
              `/contests/${key}`,
              countHtml(contests[key]),
              contests[key],
              then?.answer.contests[key],
            ),
          )}
        </tbody>
      </table>
    </div>
    ${before === null ? null : howComputed(before, view)}`
}

const UNKNOWN = html`<span class="none">not known</span>`

type Figure = string | number | null

/** Change over the last 24 hours; unknown if one of the figures is. */
function changeOf(now: Term | null, then: Term | null): Html {
  if (now === null || then === null) return UNKNOWN
  const change = minus(now, then)
  return html`${isPositive(change.figure) ? '+' : ''}${derived(change)}`
}

/** Digits that are no figure of an answer. */
const DAY = html`<span data-chrome>24 hours</span>`

function howComputed({ dayBefore, flows, funds }: EarlierAnswers, { query }: View): Html {
  return html`<p class="quiet">
      Each change is over the ${query.has('at') ? html`${DAY} before that moment` : html`last ${DAY}`}.
    </p>
    ${jsonLinks([
      ['the day before', dayBefore],
      ['flows', flows],
      ['funds', funds],
    ])}`
}
