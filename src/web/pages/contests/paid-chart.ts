import { add, formatAmount, parseAmount, ZERO } from '../../../protocol/amount.ts'
import { formatAt, msOf } from '../../../protocol/moment.ts'
import type { ContestLedger } from '../../../protocol/endpoints/contest-endpoints.ts'
import { chartPicture } from '../../charts/chart-picture.ts'
import { axisWords, BOX, type Plot, PLOT_HEADS, PLOT_HEIGHTS, plotOnPage } from '../../charts/chart-plot.ts'
import { isWholeList } from '../../frame/page-rows.ts'
import { isPositive, shortAmount } from '../../markup/amount-html.ts'
import { contestName } from '../../markup/contest-name.ts'
import { type Html, html } from '../../markup/html.ts'
import { momentText } from '../../markup/moment-html.ts'
import type { View } from '../../frame/page.ts'
import { curveStepAfter, line } from 'd3-shape'
import { type Scale, scaleOf } from '../../markup/chart-scale.ts'
import { timeMarks } from '../../charts/chart-time.ts'
import {
  ASCENT,
  type Candidate,
  type ChartRow,
  type ChartWords,
  DESCENT,
  mergedWords,
  openPlacing,
  type SeriesStyle,
} from '../../charts/chart-words.ts'

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
    },
    [plot],
    view,
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

/** A figure that holds from a moment until the next step. */
type StepPoint = Readonly<{ atMs: number; figure: string }>

/** Steps with the words at the end of their line, its name if absent, none if null. The description has the name. */
type StepSeries = Readonly<{
  name: string
  style: SeriesStyle
  steps: readonly StepPoint[]
  label?: ChartRow | null
}>

/** Figures that change at single moments, in one unit. */
type StepChart = Readonly<{
  id: string
  title: string
  description: string
  fromMs: number
  toMs: number
  /** Steps in order of time. A series starts with its first step and its last one holds to the end. */
  series: readonly StepSeries[]
  size?: 'tall' | 'short'
}>

/** Plot of steps. A table of the page has the same numbers. */
export function stepPlot({ id, title, description, fromMs, toMs, series, size = 'tall' }: StepChart): Plot {
  const figures = series.flatMap(({ steps }) => steps.map(({ figure }) => figure))
  const scale = scaleOf(figures, { head: PLOT_HEADS[size] / PLOT_HEIGHTS[size] })
  const width = Math.max(1, toMs - fromMs)
  const paths = series.map(({ style, steps }) => {
    const last = steps.at(-1)
    const held = last === undefined ? steps : [...steps, { atMs: toMs, figure: last.figure }]
    return html`<path class="s${style}" d="${stepPath(held, scale, (atMs) => (atMs - fromMs) / width)}" />`
  })
  return {
    id,
    title,
    description,
    y: scale.marks,
    base: scale.zero,
    x: timeMarks(fromMs, toMs),
    paths: html`${paths}`,
    shapes: null,
    words: mergedWords(wordsOf(series, scale, 'wide', size), wordsOf(series, scale, 'narrow', size)),
    size,
    dated: true,
  }
}

/** Distance of words from their line, above and below it, in pixels. */
const ABOVE = -6
const BELOW = 17

/** Words at the end of each line, above it or below it. */
function wordsOf(
  series: readonly StepSeries[],
  scale: Scale,
  only: 'wide' | 'narrow',
  size: 'tall' | 'short',
): readonly (ChartWords | null)[] {
  const height = PLOT_HEIGHTS[size]
  const placing = openPlacing(only, height, () => height)
  for (const words of axisWords(scale.marks, { size, base: scale.zero, only })) placing.reserve(words)
  const ended = series.flatMap((one) => {
    const last = one.steps.at(-1)
    return last === undefined ? [] : [{ ...one, y: scale.place(last.figure) * height }]
  })
  const isCrossed = (y: number): boolean => ended.some((one) => one.y > y - ASCENT && one.y < y + DESCENT)
  // The highest line first: only its words have room above them.
  return ended
    .toSorted((one, other) => one.y - other.y)
    .map(({ name, style, label, y }) => {
      if (label === null) return null
      const rows = [{ ...(label ?? { text: name }), style }]
      const candidates = [ABOVE, BELOW, ABOVE - 16, BELOW + 16].map((dy): Candidate => ({
        rows,
        share: 1,
        dx: 0,
        y: y + dy,
        anchor: 'end',
      }))
      const clear = candidates.filter((one) => !isCrossed(one.y))
      return placing.place([...clear, ...candidates], true)
    })
}
/** Most steps with exact places. More steps have whole places, to keep the page small. */
const STEPS_EXACT_MAX = 300

type Place = readonly [x: number, y: number]

function stepPath(steps: readonly StepPoint[], scale: Scale, share: (atMs: number) => number): string {
  const places = steps.map(({ atMs, figure }): Place => [
    Math.min(1, Math.max(0, share(atMs))) * BOX,
    scale.place(figure) * BOX,
  ])
  const draw = line<Place>().curve(curveStepAfter).digits(1)
  return draw(steps.length > STEPS_EXACT_MAX ? wholePlaces(places) : places) ?? ''
}

/** Steps rounded to whole places: the last figure at each, and the first one of all. */
function wholePlaces(places: readonly Place[]): readonly Place[] {
  const byX = new Map(places.map(([x, y]) => [Math.round(x), Math.round(y)]))
  const first = places.slice(0, 1).map(([x, y]): Place => [Math.round(x), Math.round(y)])
  return [...first, ...byX]
}
