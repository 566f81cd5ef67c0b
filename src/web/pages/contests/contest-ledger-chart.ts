import { add, formatAmount, parseAmount, ZERO } from '../../../protocol/amount.ts'
import { formatAt, msOf } from '../../../protocol/moment.ts'
import type { ContestLedger } from '../../../protocol/endpoints/contest-endpoints.ts'
import { chartPicture, sourceOf, themeOf } from '../../charts/chart-picture.ts'
import { type Plot, plotOnPage } from '../../charts/chart-plot.ts'
import { stepPlot, type StepSeries } from '../../charts/chart-step.ts'
import { isWholeList } from '../../frame/page-rows.ts'
import { isPositive, shortAmount } from '../../markup/amount-html.ts'
import { contestName } from '../../markup/contest-name.ts'
import { type Html, html } from '../../markup/html.ts'
import { momentText } from '../../markup/moment-html.ts'
import type { View } from '../../frame/page.ts'

/** Chart of paid and owed prizes over time; null unless the ledger has all payouts. */
export function paidChart(ledger: ContestLedger, view: View): Html | null {
  if (ledger.payouts.length === 0 || !isWholeList(ledger, view)) return null
  const plot = plotOf(ledger, view, ' in the table below')
  return html`<h2>How it was paid, in UTC</h2>
    <figure class="chart paid-steps">${plotOnPage(plot)}</figure>`
}

/** The chart as a picture. Without all payouts, or without prizes, it is empty except for a note. */
export function paidPicture(ledger: ContestLedger, view: View): Html {
  const { asOf, contest } = ledger
  const plot = plotOf(ledger, view, '')
  const isEmpty = !isWholeList(ledger, view) || seriesOf(ledger, view.site.token).length === 0
  return chartPicture(
    {
      title: `Paid in ${contestName(contest.id, contest.title)}`,
      asOf,
      range: isEmpty ? emptyOf(ledger, view) : rangeIn(ledger),
      ...sourceOf(view),
    },
    [plot],
    themeOf(view),
  )
}

function rangeIn(ledger: ContestLedger): string {
  const { fromMs, toMs } = rangeOf(ledger)
  return [fromMs, toMs].map((ms) => momentText(formatAt(msOf(ms)))).join(' to ')
}

const PART = 'Only part of the payouts: the chart needs all of them'

/** Moment after which nothing more is paid; null while prizes may still be. */
function settledAtMs({ outcome, paidAtMs }: ContestLedger['contest']): number | null {
  return outcome === 'owing' ? null : paidAtMs
}

/** From the close of the contest to its last payment or to now; before the close, its planned time. */
function rangeOf({ asOf, contest, payouts }: ContestLedger): Readonly<{ fromMs: number; toMs: number }> {
  const { closedAtMs, opensAtMs, closesAtMs } = contest
  const [first] = payouts
  const last = payouts.at(-1)
  const fromMs = closedAtMs ?? first?.atMs
  if (fromMs === undefined) return { fromMs: opensAtMs, toMs: closesAtMs }
  const toMs = settledAtMs(contest) ?? asOf.atMs ?? fromMs
  return { fromMs, toMs: Math.max(toMs, last?.atMs ?? toMs) }
}

/** `where` refers to the table of payouts in the description. */
function plotOf(ledger: ContestLedger, view: View, where: string): Plot {
  const { token } = view.site
  const series = isWholeList(ledger, view) ? seriesOf(ledger, token) : []
  const description = series.length === 0 ? `${emptyOf(ledger, view)}.` : describedOf(ledger, token, where)
  return stepPlot({
    id: 'paid',
    title: 'Paid over time',
    description,
    ...rangeOf(ledger),
    series,
    size: 'short',
  })
}

function describedOf({ contest }: ContestLedger, token: string, where: string): string {
  const { prizesOwed } = contest
  const end = settledAtMs(contest) === null ? 'now' : 'its last payment'
  const aim = isPositive(prizesOwed) ? `, towards the ${prizesOwed} ${token} that were won` : ''
  return `From the close of the contest to ${end}: what was paid grows with each payout${where}${aim}.`
}

function emptyOf(ledger: ContestLedger, view: View): string {
  return isWholeList(ledger, view) ? 'Nothing is won before the contest closes' : PART
}

/** Lines of the chart; none before the contest closes. */
function seriesOf(ledger: ContestLedger, token: string): readonly StepSeries[] {
  const { contest, pool, payouts } = ledger
  if (contest.closedAtMs === null && payouts.length === 0) return []
  const { fromMs } = rangeOf(ledger)
  let sum = ZERO
  const steps = payouts.map(({ atMs, kots }) => {
    sum = add(sum, parseAmount(kots ?? '') ?? ZERO)
    return { atMs, figure: formatAmount(sum) }
  })
  const isRefunded = pool.out['refund'] !== undefined
  const paid: StepSeries = {
    name: `Paid so far${isRefunded ? ', refunds too' : ''}, ${token}`,
    style: 1,
    steps: [{ atMs: fromMs, figure: formatAmount(ZERO) }, ...steps],
    ...(isRefunded ? {} : { label: labelOf('Paid', contest.prizesRedeemed, '/contest/prizesRedeemed') }),
  }
  const { prizesOwed, prizesRedeemed } = contest
  const isPaid = prizesOwed === prizesRedeemed && !isRefunded
  // A contest without prizes only refunds stakes.
  if (!isPositive(prizesOwed)) return [paid]
  const won: StepSeries = {
    name: `Won, as it stands now, ${token}`,
    style: 2,
    steps: [{ atMs: fromMs, figure: prizesOwed }],
    label: isPaid ? null : labelOf('Won', prizesOwed, '/contest/prizesOwed'),
  }
  // Both lines end at the same height, so one label names both.
  const both = labelOf('Won and paid', prizesOwed, '/contest/prizesOwed')
  return [isPaid ? { ...paid, label: both } : paid, won]
}

/** Words at the end of a line: its name and its last figure. */
function labelOf(name: string, figure: string, pointer: string): StepSeries['label'] & object {
  const text = shortAmount(figure)
  return { text: `${name} ${text}`, shown: html`${name} <tspan data-expr="cut ${pointer}">${text}</tspan>` }
}
