import { add, formatAmount, parseAmount, ZERO } from '../../../protocol/amount.ts'
import { DAY_MS, formatAt, msOf } from '../../../protocol/moment.ts'
import type { ContestLedger } from '../../../protocol/endpoints/contest-endpoints.ts'
import { chartPicture } from '../../charts/chart-picture.ts'
import {
  BOX,
  type ChartWords,
  marksRead,
  type Plot,
  PLOT_HEADS,
  PLOT_HEIGHTS,
  type ReadMark,
  plotOnPage,
  type SeriesStyle,
} from '../../charts/chart-plot.ts'
import { isPositive, shortAmount } from '../../markup/amount-html.ts'
import { contestName } from '../../markup/contest-name.ts'
import { type Html, html, type Part } from '../../markup/html.ts'
import { momentText } from '../../markup/moment-html.ts'
import { dayWords } from '../../markup/time-words.ts'
import type { View } from '../../frame/page.ts'
import { curveStepAfter, line } from 'd3-shape'
import { type Scale, scaleOf } from '../../markup/chart-scale.ts'
import { timeMarks } from '../../charts/chart-time.ts'
import { isWholeList } from '../../frame/answers.ts'

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

/** Moment after which nothing more is paid; null while payments are possible. */
function settledAtMs({ outcome, paidAtMs }: ContestLedger['contest']): number | null {
  return outcome === 'owing' ? null : paidAtMs
}

/**
 * Range from the close of the contest, or its first payment if that is earlier, to its last payment or to now. Without
 * either, it is the planned time.
 */
function rangeOf({ asOf, contest, payouts }: ContestLedger): Readonly<{ fromMs: number; toMs: number }> {
  const { closedAtMs, opensAtMs, closesAtMs } = contest
  const [first] = payouts
  const last = payouts.at(-1)
  const fromMs = Math.min(closedAtMs ?? Infinity, first?.atMs ?? Infinity)
  if (fromMs === Infinity) return { fromMs: opensAtMs, toMs: closesAtMs ?? opensAtMs + DAY_MS }
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
  })
}

function describedOf({ contest, payouts }: ContestLedger, token: string, where: string): string {
  const { prizesOwed, closedAtMs } = contest
  const [first] = payouts
  const isEarly = closedAtMs === null || (first !== undefined && first.atMs < closedAtMs)
  const end = settledAtMs(contest) === null ? 'now' : 'its last payment'
  const aim = isPositive(prizesOwed) ? `, towards the ${prizesOwed} ${token} that were won` : ''
  return `From ${isEarly ? 'its first payment' : 'the close of the contest'} to ${end}: what was paid grows with each payout${where}${aim}.`
}

function emptyOf(ledger: ContestLedger, view: View): string {
  return isWholeList(ledger, view) ? 'Nothing is paid yet' : PART
}

/** Lines of the chart; none before the contest closes or pays. */
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
  const { prizesOwed, prizesRedeemed } = contest
  const isPaid = prizesOwed === prizesRedeemed && !isRefunded
  const paid: StepSeries = {
    style: 1,
    steps: [{ atMs: fromMs, figure: formatAmount(ZERO) }, ...steps],
    // Both lines end at the same height if all is paid, so one label names both.
    label: isRefunded
      ? `Paid so far, refunds too, ${token}`
      : labelOf(isPaid ? 'Won and paid' : 'Paid', prizesRedeemed, '/contest/prizesRedeemed'),
  }
  // A contest without prizes only refunds stakes.
  if (!isPositive(prizesOwed)) return [paid]
  const won: StepSeries = {
    style: 2,
    steps: [{ atMs: fromMs, figure: prizesOwed }],
    label: isPaid ? null : labelOf('Won', prizesOwed, '/contest/prizesOwed'),
  }
  return [paid, won]
}

/** Words at the end of a line: its name and its last figure. */
function labelOf(name: string, figure: string, pointer: string): Html {
  return html`${name} <tspan data-expr="cut ${pointer}">${shortAmount(figure)}</tspan>`
}

/** Figure that is valid from a moment until the next step. */
type StepPoint = Readonly<{ atMs: number; figure: string }>

/** Steps in order of time, with the label at the end of their line (null for none). The last step lasts to the end. */
type StepSeries = Readonly<{ style: SeriesStyle; steps: readonly StepPoint[]; label: Part }>

/** Figures that change at single moments, in one unit. */
type StepChart = Pick<Plot, 'id' | 'title' | 'description'> &
  Readonly<{ fromMs: number; toMs: number; series: readonly StepSeries[] }>

const SIZE = 'short'

/** Plot of steps. A table of the page has the same numbers. */
export function stepPlot({ fromMs, toMs, series, ...named }: StepChart): Plot {
  const figures = series.flatMap(({ steps }) => steps.map(({ figure }) => figure))
  const scale = scaleOf(figures, { head: PLOT_HEADS[SIZE] / PLOT_HEIGHTS[SIZE] })
  const shareOf = (atMs: number): number =>
    Math.min(1, Math.max(0, (atMs - fromMs) / Math.max(1, toMs - fromMs)))
  const paths = series.map(({ style, steps }) => {
    const last = steps.at(-1)
    const held = last === undefined ? steps : [...steps, { ...last, atMs: toMs }]
    return html`<path class="s${style}" d="${stepPath(held, scale, shareOf)}" />`
  })
  return {
    ...named,
    y: scale.marks,
    base: scale.zero,
    x: timeMarks(fromMs, toMs),
    paths: html`${paths}`,
    shapes: null,
    words: wordsOf(series, scale),
    size: SIZE,
    dated: true,
    read: marksRead(marksOf(series[0], scale, shareOf), SIZE),
  }
}

/** Most marks of a plot that a pointer can tell apart. */
const MARKS_MAX = 250

/** Marks of a line: its last step at each place. */
function marksOf(
  series: StepSeries | undefined,
  scale: Scale,
  shareOf: (atMs: number) => number,
): readonly ReadMark[] {
  if (series === undefined) return []
  const { steps, style } = series
  const marks = steps.map(({ atMs, figure }) => ({
    x: shareOf(atMs),
    y: scale.place(figure),
    name: dayWords('cell', atMs),
    figure,
    style,
  }))
  return [...new Map(marks.map((mark) => [Math.round(mark.x * MARKS_MAX), mark])).values()]
}

/** Distance of labels from their line, above and below it, in pixels, and the height that both need above it. */
const ABOVE = 6
const BELOW = 17
const ROOM = 34

/**
 * Labels at the end of each line. The highest line has room above it; a lower one too, unless it is just below the
 * highest.
 */
function wordsOf(series: readonly StepSeries[], scale: Scale): readonly ChartWords[] {
  const ended = series
    .flatMap(({ style, steps, label }) => {
      const figure = steps.at(-1)?.figure
      return figure === undefined ? [] : [{ style, label, y: scale.place(figure) * PLOT_HEIGHTS[SIZE] }]
    })
    .toSorted((one, other) => one.y - other.y)
  const top = ended[0]?.y ?? 0
  return ended.flatMap(({ style, label, y }, index) => {
    if (label === null) return []
    const isBelow = index > 0 && y - top < ROOM
    return [{ rows: [{ shown: label, style }], share: 1, y: isBelow ? y + BELOW : y - ABOVE, anchor: 'end' }]
  })
}

/** Most steps with exact positions. With more, positions are whole, to keep the page small. */
const STEPS_EXACT_MAX = 300

type Place = readonly [x: number, y: number]

function stepPath(steps: readonly StepPoint[], scale: Scale, shareOf: (atMs: number) => number): string {
  const places = steps.map(({ atMs, figure }): Place => [shareOf(atMs) * BOX, scale.place(figure) * BOX])
  const draw = line<Place>().curve(curveStepAfter)
  if (steps.length <= STEPS_EXACT_MAX) return draw.digits(1)(places) ?? ''
  // The first figure, and the last one at each whole position.
  const last = new Map(places.map((place) => [Math.round(place[0]), place]))
  return draw.digits(0)([...places.slice(0, 1), ...last.values()]) ?? ''
}
