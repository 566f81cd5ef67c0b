import type { Ms } from '../../../protocol/moment.ts'
import { boundOf, ceilTo, DAY_MS, floorTo, formatAt } from '../../../protocol/moment.ts'
import type { Summary } from '../../../protocol/resources.ts'
import type { Flows, Funds } from '../../../protocol/range-resources.ts'
import { amountHtml, amountOrNone, countHtml, isZero } from '../../markup/amount-html.ts'
import { sparkline } from '../../charts/chart-spark.ts'
import { derived, minus } from '../../markup/derived.ts'
import type { LinkedAnswer } from '../../frame/linked-answers.ts'
import { askEndpoint, jsonLinks } from '../../frame/linked-answers.ts'
import type { Html } from '../../markup/html.ts'
import { html } from '../../markup/html.ts'
import type { View } from '../../frame/page.ts'

/** Days in a sparkline. */
const SPARK_DAYS = 30

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
  const dayBefore = formatAt(boundOf(Math.max(0, (asked ?? atMs) - DAY_MS)))
  const query = thirtyDays(asked, atMs)
  return {
    dayBefore: await askEndpoint(view, 'summary', { query: `at=${dayBefore}` }),
    flows: await askEndpoint(view, 'flows', { query }),
    funds: await askEndpoint(view, 'funds', { query }),
  }
}

/** Requests the flows of the thirty days before a summary, or before now if there is no event. */
export function askFlows({ asOf }: Summary, view: View): Promise<LinkedAnswer<Flows>> {
  return askEndpoint(view, 'flows', { query: thirtyDays(view.query.time('at'), asOf.atMs ?? view.now) })
}

/** Query for the thirty days up to the requested moment, or up to the newest event. */
function thirtyDays(asked: Ms | undefined, newestMs: number): string {
  // A past view ends with the last complete day, since later events may have changed an incomplete one.
  const end =
    asked === undefined ? ceilTo(boundOf(newestMs + 1), DAY_MS) : floorTo(boundOf(asked + 1), DAY_MS)
  // The first representable day has no day before it.
  const to = boundOf(Math.max(DAY_MS, end))
  const from = boundOf(Math.max(0, to - SPARK_DAYS * DAY_MS))
  return `from=${formatAt(from)}&to=${formatAt(to)}&bucket=day`
}

type AmountKey = Exclude<FlowKey, 'tokenPriceUsd'> | FundKey | 'paidInLoyalty'
type FlowKey = 'spentOnPlay' | 'paidInPrizes' | 'burned' | 'tokenPriceUsd'
type FundKey = 'treasury' | 'runningPools' | 'loyaltyFund' | 'prizesNotRedeemed'
type SparkFigures = (before: EarlierAnswers) => readonly (string | null)[]

const ofFlows =
  (key: FlowKey): SparkFigures =>
  ({ flows }) =>
    // An unfinished day would look like a fall.
    flows.answer.buckets.filter(({ complete }) => complete).map((bucket) => bucket[key])

const ofFunds =
  (key: FundKey): SparkFigures =>
  ({ funds }) =>
    funds.answer.buckets.map((bucket) => bucket[key])

/** Amounts in the page's order, each with its text for when there is no change to show, and its sparkline. */
export const AMOUNTS: readonly (readonly [
  key: AmountKey,
  label: string,
  explained: string,
  line: SparkFigures | null,
])[] = [
  ['spentOnPlay', 'Spent on play', 'by players', ofFlows('spentOnPlay')],
  ['paidInPrizes', 'Paid in prizes', 'to players', ofFlows('paidInPrizes')],
  ['prizesNotRedeemed', 'Prizes not yet redeemed', 'won, and not yet paid', ofFunds('prizesNotRedeemed')],
  ['runningPools', 'In the pools of contests', 'still to be won', ofFunds('runningPools')],
  ['burned', 'Burned', 'from platform income', ofFlows('burned')],
  ['treasury', 'Treasury', 'what the platform holds', ofFunds('treasury')],
  ['loyaltyFund', 'Loyalty fund', 'for monthly rewards', ofFunds('loyaltyFund')],
  ['paidInLoyalty', 'Paid as loyalty reward', 'to players', null],
]

/** Counts in the page's order. */
export const COUNTS: readonly (readonly [key: 'entries' | 'plays' | 'payouts' | 'events', label: string])[] =
  [
    ['entries', 'Entries'],
    ['plays', 'Plays'],
    ['payouts', 'Payouts'],
    ['events', 'Events'],
  ]

/** Sparklines by name with the figures of complete days, and the start of the first day. */
export function sparkDays(before: EarlierAnswers): Readonly<{ fromMs: number; lines: readonly Sparkline[] }> {
  const { fromMs, buckets } = before.flows.answer
  const over = buckets.filter(({ complete }) => complete).length
  const lines = AMOUNTS.flatMap(([, label, , line]): readonly Sparkline[] =>
    line === null ? [] : [[label, line(before).slice(0, over)]],
  )
  return { fromMs, lines }
}

type Sparkline = readonly [name: string, figures: readonly (string | null)[]]

/** Headline figures, each with its change over the last 24 hours and a sparkline of thirty days. */
export function headlines(summary: Summary, before: EarlierAnswers | null, view: View): Html {
  const { site } = view
  const beside = (key: ChangeKey, otherwise: string | null): Html | null => {
    const change = changeOf(summary, before, key) ?? otherwise
    return change === null ? null : html`<dd class="beside">${change}</dd>`
  }
  return html`<dl class="figures headlines">
      ${AMOUNTS.map(
        ([key, label, explained, line]) =>
          html`<div>
            <dt>${label}, ${site.token}</dt>
            <dd data-at="/${key}">${amountHtml(summary[key])}</dd>
            ${beside(key, explained)} ${sparklineOf(before === null ? null : (line?.(before) ?? null))}
          </div>`,
      )}
    </dl>
    <dl class="counts">
      <div>
        <dt>Token price, USD</dt>
        <dd data-at="/tokenPriceUsd">${amountOrNone(summary.tokenPriceUsd)}</dd>
        ${beside('tokenPriceUsd', null)}
      </div>
      ${COUNTS.map(
        ([key, label]) =>
          html`<div>
            <dt>${label}</dt>
            <dd data-at="/${key}">${countHtml(summary[key])}</dd>
            ${beside(key, null)}
          </div>`,
      )}
    </dl>
    ${before === null ? null : howComputed(before, view)}`
}

function sparklineOf(figures: readonly (string | null)[] | null): Html | null {
  return figures === null ? null : html`<dd class="drawn">${sparkline(figures)}</dd>`
}

type ChangeKey = Exclude<keyof Summary, 'asOf' | 'contests'>

/** Change over the last 24 hours; null if one of the figures is unknown. */
function changeOf(summary: Summary, before: EarlierAnswers | null, key: ChangeKey): Html | null {
  const now = summary[key]
  const then = before?.dayBefore.answer[key] ?? null
  if (before === null || now === null || then === null) return null
  const change = minus(
    { pointer: `/${key}`, figure: now },
    { pointer: `${before.dayBefore.address}#/${key}`, figure: then },
  )
  if (isZero(change.figure)) return html`unchanged in a day`
  const sign = change.figure.startsWith('-') ? '' : '+'
  return html`${sign}${derived(change)} in a day`
}

function howComputed({ dayBefore, flows, funds }: EarlierAnswers, { query }: View): Html {
  return html`<p class="quiet">
      A change is the figure less that of twenty-four hours
      before${query.has('at') ? null : html` (<a href="/compare">side by side</a>)`}. The small lines show
      thirty days: what was spent, paid and burned in each that is over, and what was held at the end of each.
    </p>
    ${jsonLinks([
      ['the day before', dayBefore],
      ['flows', flows],
      ['funds', funds],
    ])}`
}
