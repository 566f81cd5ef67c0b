import { add, formatAmount, parseAmount, ZERO } from '../../../protocol/amount.ts'
import { formatAt, msOf } from '../../../protocol/moment.ts'
import type { ContestLedger } from '../../../protocol/resources.ts'
import type { Panel } from '../../charts/chart-figure.ts'
import { chartPicture, sourceOf, themeOf } from '../../charts/chart-picture.ts'
import { legend, plotOnPage } from '../../charts/chart-plot.ts'
import type { StepSeries } from '../../charts/chart-step.ts'
import { stepPlot } from '../../charts/chart-step.ts'
import { contestName } from '../../markup/contest-name.ts'
import type { Html } from '../../markup/html.ts'
import { html } from '../../markup/html.ts'
import { momentText } from '../../markup/moment-html.ts'
import type { View } from '../../frame/page.ts'

/** What was paid as time went on, beside what was won: drawn of a whole list of payouts alone. */
export function paidChart(ledger: ContestLedger, view: View): Html | null {
  if (ledger.payouts.length === 0 || !isWhole(ledger, view)) return null
  const { plot, lines } = panelOf(ledger, view, ' in the table below')
  return html`<h2>Paid as time went on</h2>
    <figure class="chart">${legend(lines, false)} ${plotOnPage(plot)}</figure>`
}

/** The same as a picture; of a part of the payouts, or of a contest that has won nobody anything, an empty one that says so. */
export function paidPicture(ledger: ContestLedger, view: View): Html {
  const { asOf, contest } = ledger
  const panel = panelOf(ledger, view, '')
  return chartPicture(
    {
      title: `Paid in ${contestName(contest.id, contest.title)}`,
      asOf,
      range: panel.lines.length === 0 ? emptyOf(ledger, view) : rangeIn(ledger),
      ...sourceOf(view),
    },
    [panel],
    themeOf(view),
  )
}

function rangeIn(ledger: ContestLedger): string {
  const { fromMs, toMs } = rangeOf(ledger)
  return [fromMs, toMs].map((ms) => momentText(formatAt(msOf(ms)))).join(' to ')
}

const PART = 'A part of the payouts: they are drawn from the first to the last only'

function isWhole({ next }: ContestLedger, { query }: View): boolean {
  return next === null && !query.has('after')
}

/** From the close of the contest to its last payment, or to now; before the close, the time it is planned for. */
function rangeOf({ asOf, contest, payouts }: ContestLedger): Readonly<{ fromMs: number; toMs: number }> {
  const { closedAtMs, paidAtMs, opensAtMs, closesAtMs } = contest
  const [first] = payouts
  const last = payouts.at(-1)
  const fromMs = closedAtMs ?? first?.atMs
  if (fromMs === undefined) return { fromMs: opensAtMs, toMs: closesAtMs }
  const toMs = paidAtMs ?? asOf.atMs ?? fromMs
  return { fromMs, toMs: Math.max(toMs, last?.atMs ?? toMs) }
}

/** `where` says where the payouts stand. */
function panelOf(ledger: ContestLedger, view: View, where: string): Panel {
  const { token } = view.site
  const series = isWhole(ledger, view) ? seriesOf(ledger, token) : []
  const description = series.length === 0 ? `${emptyOf(ledger, view)}.` : describedOf(ledger, token, where)
  const plot = stepPlot({
    id: 'paid',
    title: 'Paid as time went on',
    description,
    ...rangeOf(ledger),
    series,
  })
  return { plot, lines: series }
}

function describedOf({ contest }: ContestLedger, token: string, where: string): string {
  const { paidAtMs, prizesOwed } = contest
  const end = paidAtMs === null ? 'now' : 'its last payment'
  const aim = isMore(prizesOwed) ? `, towards the ${prizesOwed} ${token} that were won` : ''
  return `From the close of the contest to ${end}: what was paid grows with each payout${where}${aim}.`
}

function emptyOf(ledger: ContestLedger, view: View): string {
  return isWhole(ledger, view) ? 'Nothing is won before the contest closes' : PART
}

/** Nothing of a contest that is still to close. */
function seriesOf(ledger: ContestLedger, token: string): readonly StepSeries[] {
  const { contest, pool, payouts } = ledger
  if (contest.closedAtMs === null && payouts.length === 0) return []
  const { fromMs } = rangeOf(ledger)
  let sum = ZERO
  const steps = payouts.map(({ atMs, kots }) => {
    sum = add(sum, parseAmount(kots ?? '') ?? ZERO)
    return { atMs, figure: formatAmount(sum) }
  })
  const refunds = pool.out['refund'] === undefined ? '' : ', refunds too'
  const paid: StepSeries = {
    name: `Paid so far${refunds}, ${token}`,
    style: 1,
    steps: [{ atMs: fromMs, figure: formatAmount(ZERO) }, ...steps],
  }
  // Of a contest without prizes only stakes are given back.
  if (!isMore(contest.prizesOwed)) return [paid]
  const won: StepSeries = {
    name: `Won, as it stands now, ${token}`,
    style: 2,
    steps: [{ atMs: fromMs, figure: contest.prizesOwed }],
  }
  return [paid, won]
}

function isMore(figure: string): boolean {
  return /[1-9]/.test(figure)
}
