import type { Ms } from '../../../protocol/moment.ts'
import { boundOf, ceilTo, DAY_MS, floorTo, formatAt } from '../../../protocol/moment.ts'
import type { Flows, Funds, Summary } from '../../../protocol/resources.ts'
import { amountHtml, amountOrNone, countHtml } from '../../markup/amount-html.ts'
import { sparkline } from '../../charts/chart-spark.ts'
import { derived, minus } from '../../markup/derived.ts'
import type { Further } from '../../frame/further.ts'
import { further, jsonLine } from '../../frame/further.ts'
import type { Html } from '../../markup/html.ts'
import { html } from '../../markup/html.ts'
import type { View } from '../../frame/page.ts'

/** Days whose figures stand in the small lines. */
const SPARK_DAYS = 30

/** What the figures are shown beside: the day before, and the days before that. */
export type Before = Readonly<{
  dayBefore: Further<Summary>
  flows: Further<Flows>
  /** Never settled as a whole, since it says the present balances too; those of past days are, and no others are shown. */
  funds: Further<Funds>
}>

/** Asks for what came before a summary: nothing before the first event. */
export async function askBefore(summary: Summary, view: View): Promise<Before | null> {
  const { atMs } = summary.asOf
  if (atMs === null) return null
  const asked = view.query.time('at')
  const dayBefore = formatAt(boundOf(Math.max(0, (asked ?? atMs) - DAY_MS)))
  const query = daysBefore(asked, atMs)
  return {
    dayBefore: await further(view, 'summary', { query: `at=${dayBefore}` }),
    flows: await further(view, 'flows', { query }),
    funds: await further(view, 'funds', { query }),
  }
}

/** The flows of the same days; while there is no event, of those up to now. */
export function flowsBefore({ asOf }: Summary, view: View): Promise<Further<Flows>> {
  return further(view, 'flows', { query: daysBefore(view.query.time('at'), asOf.atMs ?? view.now) })
}

/** The last days at a moment that is asked for, or up to that of the newest event. */
function daysBefore(asked: Ms | undefined, newestMs: number): string {
  // A past view ends with the last day that was over then: a part of a day is not as it was known then.
  const end =
    asked === undefined ? ceilTo(boundOf(newestMs + 1), DAY_MS) : floorTo(boundOf(asked + 1), DAY_MS)
  // The first day that can be said has none before it.
  const to = boundOf(Math.max(DAY_MS, end))
  const from = boundOf(Math.max(0, to - SPARK_DAYS * DAY_MS))
  return `from=${formatAt(from)}&to=${formatAt(to)}&bucket=day`
}

type AmountKey = Exclude<FlowKey, 'tokenPriceUsd'> | FundKey | 'paidInLoyalty'
type FlowKey = 'spentOnPlay' | 'paidInPrizes' | 'burned' | 'tokenPriceUsd'
type FundKey = 'treasury' | 'runningPools' | 'loyaltyFund' | 'prizesNotRedeemed'
type Line = (before: Before) => readonly (string | null)[]

const ofFlows =
  (key: FlowKey): Line =>
  ({ flows }) =>
    // A day that is not over would look like a fall.
    flows.answer.buckets.filter(({ complete }) => complete).map((bucket) => bucket[key])

const ofFunds =
  (key: FundKey): Line =>
  ({ funds }) =>
    funds.answer.buckets.map((bucket) => bucket[key])

/** Amounts in the order of who asks for them; each with what is said of it where nothing came before. */
export const AMOUNTS: readonly (readonly [
  key: AmountKey,
  label: string,
  explained: string,
  line: Line | null,
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

/** What is counted, in the same order wherever it stands. */
export const COUNTS: readonly (readonly [key: 'entries' | 'plays' | 'payouts' | 'events', label: string])[] =
  [
    ['entries', 'Entries'],
    ['plays', 'Plays'],
    ['payouts', 'Payouts'],
    ['events', 'Events'],
  ]

/** The small lines by their names, with their figures of the days that are over, and when the first of them begins. */
export function daysOf(before: Before): Readonly<{ fromMs: number; lines: readonly DayLine[] }> {
  const { fromMs, buckets } = before.flows.answer
  const over = buckets.filter(({ complete }) => complete).length
  const lines = AMOUNTS.flatMap(([, label, , line]): readonly DayLine[] =>
    line === null ? [] : [[label, line(before).slice(0, over)]],
  )
  return { fromMs, lines }
}

type DayLine = readonly [name: string, figures: readonly (string | null)[]]

/** The headline figures, each with its change since the day before and a line of its last thirty days. */
export function figuresOf(summary: Summary, before: Before | null, view: View): Html {
  const { site } = view
  const beside = (key: Changing, otherwise: string | null): Html | null => {
    const said = changeOf(summary, before, key) ?? otherwise
    return said === null ? null : html`<dd class="beside">${said}</dd>`
  }
  return html`<dl class="figures headlines">
      ${AMOUNTS.map(
        ([key, label, explained, line]) =>
          html`<div>
            <dt>${label}, ${site.token}</dt>
            <dd data-at="/${key}">${amountHtml(summary[key])}</dd>
            ${beside(key, explained)} ${drawn(before === null ? null : (line?.(before) ?? null))}
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

function drawn(figures: readonly (string | null)[] | null): Html | null {
  return figures === null ? null : html`<dd class="drawn">${sparkline(figures)}</dd>`
}

type Changing = Exclude<keyof Summary, 'asOf' | 'contests'>

/** The figure less that of the day before; nothing where one of them is not known. */
function changeOf(summary: Summary, before: Before | null, key: Changing): Html | null {
  const now = summary[key]
  const then = before?.dayBefore.answer[key] ?? null
  if (before === null || now === null || then === null) return null
  const change = minus(
    { pointer: `/${key}`, figure: now },
    { pointer: `${before.dayBefore.address}#/${key}`, figure: then },
  )
  if (!/[1-9]/.test(change.figure)) return html`unchanged in a day`
  const sign = change.figure.startsWith('-') ? '' : '+'
  return html`${sign}${derived(change)} in a day`
}

function howComputed({ dayBefore, flows, funds }: Before, { query }: View): Html {
  return html`<p class="quiet">
      A change is the figure less that of twenty-four hours
      before${query.has('at') ? null : html` (<a href="/compare">side by side</a>)`}. The small lines show
      thirty days: what was spent, paid and burned in each that is over, and what was held at the end of each.
    </p>
    ${jsonLine([
      ['the day before', dayBefore],
      ['flows', flows],
      ['funds', funds],
    ])}`
}
