import { line } from 'd3-shape'
import { annotationWords, shareOf } from './chart-annotations.ts'
import {
  BAR_WIDTH_SHARE,
  BOX,
  type Lines,
  type Plot,
  PLOT_HEADS,
  PLOT_HEIGHTS,
  plotOnPage,
  type PlotSize,
  type Series,
  type Share,
} from './chart-plot.ts'
import { type ChartValue, digitsOf, percent, rounded, type Scale, scaleOf } from '../markup/chart-scale.ts'
import { fittingMarks, monthMarks, timeMarks } from './chart-time.ts'
import { type Html, html } from '../markup/html.ts'
import { momentText } from '../markup/moment-html.ts'
import type { SeriesStyle } from './chart-words.ts'

/** Number of marks on the axis of a short plot. */
const SHORT_MARKS = 3

/** Plot of series. An unknown figure breaks a line; a figure without neighbours is a dot. */
export function linePlot(lines: Lines): Plot {
  const { id, title, fromMs, toMs, bucket, series, size, dated, zero = true } = lines
  const points = lines.starts.length
  const all = series.flatMap(({ figures }) => figures)
  const head = PLOT_HEADS[size] / PLOT_HEIGHTS[size]
  const scale = scaleOf(all, {
    head,
    zero,
    ...(size === 'short' ? { marks: zero ? SHORT_MARKS : SHORT_MARKS - 1 } : {}),
  })
  const share: Share = (index) => (index + offsetOf(lines)) / points
  // Bars are in front of areas, and behind lines.
  const order = (kind: Series['drawn']): number => ['area', 'bars', 'line'].indexOf(kind)
  const ordered = series.toSorted((a, b) => order(a.drawn) - order(b.drawn))
  return {
    id,
    title,
    size,
    dated,
    description: series.map((one) => described(one, lines.starts)).join(' '),
    y: scale.marks,
    base: zero ? scale.zero : null,
    x: bucket === 'month' ? monthMarks(fromMs, toMs) : timeMarks(fromMs, toMs),
    paths: html`${ordered.map((one) => backOf(one, lines, scale, share))}
    ${ordered.map((one) => (one.drawn === 'bars' ? null : strokeOf(one, lines, scale, share)))}`,
    shapes: html`${momentLines(lines)}
    ${series.map((one) => (one.drawn === 'bars' ? null : dotsOf({ ...one, figures: shownOf(one, lines) }, scale, share)))}`,
    words: annotationWords(lines, scale, share),
  }
}

/** Upright lines at the moments that have words. */
function momentLines(lines: Lines): readonly (Html | null)[] {
  return (lines.annotations ?? []).map((one) => {
    const at = one.at === 'moment' ? shareOf(one.atMs, lines) : null
    const x = at === null ? '' : percent(at)
    return at === null ? null : html`<line class="axis dash" x1="${x}" x2="${x}" y2="100%" />`
  })
}

/** Bars, or the area under a line; null for a bare line. */
function backOf(series: Series, lines: Lines, scale: Scale, share: Share): Html | null {
  const { figures, style, drawn } = series
  const over = overIn(series, lines)
  const height = PLOT_HEIGHTS[lines.size]
  const dense = denseOf(figures, height)
  if (drawn === 'bars') {
    const bars = (kind: string, from: number, to: number): Html => {
      const d =
        dense === null
          ? barsPath(figures, { from, to, scale })
          : denseBars(figures, { scale, height, from, to })
      return html`<path class="f${style}${kind}" ${dense} d="${d}" />`
    }
    const pale = over === figures.length ? null : bars(' pale', over, figures.length)
    return html`${bars('', 0, over)}${pale}`
  }
  if (drawn === 'line') return null
  const shown = shownOf(series, lines)
  const d =
    dense === null
      ? areaPath(shown, scale.zero * BOX, scale, share)
      : denseLine(shown, { scale, height, offset: offsetOf(lines), closed: true })
  return html`<path class="f${style} area" ${dense} d="${d}" />`
}

/** Attribute of a dense path; null for an exact one. */
function denseOf(figures: readonly ChartValue[], height: number): Html | null {
  return isDense(figures.length) ? html`transform="${denseTransform(figures.length, height)}"` : null
}

/** Place of a figure in its bucket, as a share of the bucket. */
function offsetOf({ placement }: Lines): number {
  return placement === 'middle' ? 0.5 : 1
}

/** Number of buckets that a series draws in full. A balance is that of its moment, so it is never partial. */
function overIn({ figures }: Series, { unfinished, placement }: Lines): number {
  return placement === 'end' ? figures.length : figures.length - unfinished
}

/** Bars from zero, as one path. */
function barsPath(
  figures: readonly ChartValue[],
  { from, to, scale }: Readonly<{ from: number; to: number; scale: Scale }>,
): string {
  const step = BOX / figures.length
  const [width, foot] = [tenths(step * BAR_WIDTH_SHARE), tenths(scale.zero * BOX)]
  let path = ''
  for (let index = from; index < to; index++) {
    const end = tenths(scale.place(figures[index] ?? '0') * BOX)
    if (end !== foot)
      path += `M${tenths((index + (1 - BAR_WIDTH_SHARE) / 2) * step)},${foot}V${end}h${width}V${foot}z`
  }
  return path
}

function tenths(place: number): number {
  return Math.round(place * 10) / 10
}

/** Path of a line. It ends before a bucket that is not over, because a lower figure there is only partial. */
function strokeOf(series: Series, lines: Lines, scale: Scale, share: Share): Html {
  const shown = shownOf(series, lines)
  const height = PLOT_HEIGHTS[lines.size]
  const dense = denseOf(shown, height)
  const d =
    dense === null
      ? linePath(shown, scale, share)
      : denseLine(shown, { scale, height, offset: offsetOf(lines), closed: false })
  return html`<path class="s${series.style}" ${dense} d="${d}" />`
}

/** Figures that a line shows: null for the buckets that are not over, unless there is no other. */
function shownOf(series: Series, lines: Lines): readonly ChartValue[] {
  const over = overIn(series, lines)
  return over === 0 ? series.figures : series.figures.map((figure, index) => (index < over ? figure : null))
}

/** Path through the known figures. */
function linePath(figures: readonly ChartValue[], scale: Scale, share: Share): string {
  const draw = line<ChartValue>()
    .defined((figure) => figure !== null)
    .x((_, index) => share(index) * BOX)
    .y((figure) => scale.place(figure ?? '0') * BOX)
    .digits(1)
  return draw(figures) ?? ''
}

/** The line's path, each of its parts closed along its foot. */
function areaPath(figures: readonly ChartValue[], foot: number, scale: Scale, share: Share): string {
  return linePath(figures, scale, share).replaceAll(/M([\d.]+),[^M]*/g, (part, first: string) => {
    const last = /([\d.]+),[\d.-]+$/.exec(part)?.[1] ?? first
    return part.endsWith('Z') ? '' : `${part}L${last},${tenths(foot)}L${first},${tenths(foot)}Z`
  })
}

/** Dots of the figures without neighbours. */
function dotsOf({ figures, style }: Series, scale: Scale, share: Share): readonly Html[] {
  return figures.flatMap((figure, index) => {
    const alone = (figures[index - 1] ?? null) === null && (figures[index + 1] ?? null) === null
    if (figure === null || !alone) return []
    return [
      html`<circle
        class="f${style}"
        cx="${percent(share(index))}"
        cy="${percent(scale.place(figure))}"
        r="3"
      />`,
    ]
  })
}

/** Description of a series: its exact least, greatest and last figures, and their buckets. */
function described({ name, figures }: Series, starts: readonly string[]): string {
  const known = figures.flatMap((figure, index) => {
    const start = starts[index]
    return figure === null || start === undefined ? [] : [{ figure, start }]
  })
  const [first] = known
  const last = known.at(-1)
  if (first === undefined || last === undefined) return `${name}: not known.`
  let [least, most] = [first, first]
  let [low, high] = [digitsOf(first.figure), digitsOf(first.figure)]
  for (const one of known) {
    const digits = digitsOf(one.figure)
    if (digits < low) [least, low] = [one, digits]
    if (digits > high) [most, high] = [one, digits]
  }
  const describe = ({ figure, start }: typeof first): string =>
    `${figure} in the bucket of ${momentText(start)}`
  if (known.length === 1) return `${name}: ${describe(first)}.`
  return `${name}: least ${describe(least)}, greatest ${describe(most)}, last ${last.figure}.`
}

// Paths of many buckets in few characters: steps of one bucket and of whole pixels, from each place to the next.

/** Most buckets with exact places. More have places in whole pixels, to keep the page small. */
const EXACT_MAX = 300

/** Whether a plot has so many buckets that it needs paths in few characters. */
function isDense(buckets: number): boolean {
  return buckets > EXACT_MAX
}

/** Size of a dense plot: its buckets and its height in pixels. */
type Dense = Readonly<{ scale: Scale; height: number }>

/** Transformation from buckets and pixels to the box of a plot. */
function denseTransform(buckets: number, height: number): string {
  return `scale(${rounded(BOX / buckets)} ${rounded(BOX / height)})`
}

/** Line through the known figures; `offset` is the place of a figure in its bucket. With a foot it is an area. */
function denseLine(
  figures: readonly ChartValue[],
  { scale, height, offset, closed }: Dense & Readonly<{ offset: number; closed: boolean }>,
): string {
  const foot = Math.round(scale.zero * height)
  let path = ''
  let before: number | null = null
  let first = 0
  const close = (): void => {
    if (closed && before !== null) path += `V${foot}H${first + offset}z`
  }
  for (const [index, figure] of figures.entries()) {
    if (figure === null) {
      close()
      before = null
      continue
    }
    const y = Math.round(scale.place(figure) * height)
    if (before === null) {
      first = index
      path += `M${index + offset},${y}l`
    } else path += `${path.endsWith('l') ? '' : ' '}1${y < before ? '' : ' '}${y - before}`
    before = y
  }
  close()
  return path.replaceAll(/l(?=M|V|$)/g, '')
}

/** Bars that touch, as the outline of all of them, from one bucket up to another. */
function denseBars(
  figures: readonly ChartValue[],
  { scale, height, from, to }: Dense & Readonly<{ from: number; to: number }>,
): string {
  const foot = Math.round(scale.zero * height)
  let path = `M${from},${foot}`
  let [before, wait] = [foot, 0]
  for (const figure of figures.slice(from, to)) {
    const y = Math.round(scale.place(figure ?? '0') * height)
    if (y !== before) path += `${wait === 0 ? '' : `h${wait}`}v${y - before}`
    wait = y === before ? wait + 1 : 1
    before = y
  }
  return `${path}H${to}V${foot}z`
}

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
