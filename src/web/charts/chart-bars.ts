import { barsPath } from './chart-line.ts'
import {
  BAR_WIDTH_SHARE,
  type Plot,
  PLOT_HEADS,
  PLOT_HEIGHTS,
  plotOnPage,
  type PlotSize,
} from './chart-plot.ts'
import { scaleOf } from '../markup/chart-scale.ts'
import { fittingMarks } from './chart-time.ts'
import type { SeriesStyle } from './chart-words.ts'
import { type Html, html } from '../markup/html.ts'

/** One bar: its label and its figure. Unfinished bars are the last ones; they are pale. */
type Bar = Readonly<{ label: string; figure: string; unfinished?: boolean }>

export type Bars = Readonly<{
  id: string
  title: string
  description: string
  bars: readonly Bar[]
  style?: SeriesStyle
  size?: PlotSize
}>

/** Number of marks on the axis of a short plot. */
const SHORT_MARKS = 3

/** Figure of bars with a sentence. A table of the page has the same numbers. */
export function barChart(bars: Bars, sentence: Html | null = null): Html {
  return html`<figure class="chart">
    ${sentence === null ? null : html`<figcaption>${sentence}</figcaption>`} ${plotOnPage(barPlot(bars))}
  </figure>`
}

/** Plot of bars from zero. */
export function barPlot({ id, title, description, bars, style = 1, size = 'short' }: Bars): Plot {
  const figures = bars.map(({ figure }) => figure)
  const head = PLOT_HEADS[size] / PLOT_HEIGHTS[size]
  const scale = scaleOf(figures, { head, ...(size === 'short' ? { marks: SHORT_MARKS } : {}) })
  const first = bars.findIndex(({ unfinished }) => unfinished === true)
  const over = first < 0 ? bars.length : first
  const leftOf = (index: number): number => index + (1 - BAR_WIDTH_SHARE) / 2
  const paths = [
    html`<path class="f${style}" d="${barsPath(figures, { from: 0, to: over, scale })}" />`,
    over === bars.length
      ? null
      : html`<path
          class="f${style} pale"
          d="${barsPath(figures, { from: over, to: bars.length, scale })}"
        />`,
  ]
  return {
    id,
    title,
    description,
    size,
    x: fittingMarks(bars.map(({ label }, index) => ({ share: leftOf(index) / bars.length, label }))),
    y: scale.marks,
    base: scale.zero,
    paths: html`${paths}`,
    shapes: null,
    words: [],
    dated: true,
  }
}
