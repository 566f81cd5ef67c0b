import { type Area, area, curveStepAfter, type Line, line } from 'd3-shape'
import {
  BOX,
  type ChartWords,
  type Lines,
  marksRead,
  type Names,
  type Plot,
  PLOT_HEADS,
  PLOT_HEIGHTS,
  plotOnPage,
  type PlotSize,
  type Series,
} from './chart-plot.ts'
import {
  type ChartValue,
  digitsOf,
  greatestIndex,
  percent,
  type Scale,
  scaleOf,
} from '../markup/chart-scale.ts'
import { bucketMark, fittingMarks, monthMarks, timeMarks } from './chart-time.ts'
import { shortAmount } from '../markup/amount-html.ts'
import { type Html, html } from '../markup/html.ts'
import { momentText } from '../markup/moment-html.ts'

/** Number of marks on the axis of a short plot. */
const SHORT_MARKS = 3
/** Share of a bucket's width that its bar takes. */
const BAR_WIDTH_SHARE = 0.68
/**
 * Most buckets whose positions have a decimal. With more, positions are whole and bars touch, to keep the page small.
 */
const EXACT_MAX = 300

/** Position of a bucket's figure as a share of the width. */
type Share = (index: number) => number

/** Plot of series. An unknown figure breaks a line; a figure without neighbours is a dot. */
export function linePlot(lines: Lines): Plot {
  const { id, title, fromMs, toMs, bucket, series, size, dated, starts, names, zero = true } = lines
  const scale = scaleOf(
    series.flatMap(({ figures }) => figures),
    {
      head: PLOT_HEADS[size] / PLOT_HEIGHTS[size],
      zero,
      ...(size === 'short' ? { marks: zero ? SHORT_MARKS : SHORT_MARKS - 1 } : {}),
    },
  )
  const share: Share = (index) => (index + offsetOf(lines)) / starts.length
  const bars = series.filter(({ drawn }) => drawn === 'bars')
  const drawnLines = series
    .filter(({ drawn }) => drawn !== 'bars')
    .map((one) => ({ ...one, figures: shownOf(one, lines) }))
  // Bars are in front of areas, and behind lines.
  return {
    id,
    title,
    size,
    dated,
    description: series.map((one) => described(one, starts)).join(' '),
    y: scale.marks,
    base: zero ? scale.zero : null,
    x: bucket === 'month' ? monthMarks(fromMs, toMs) : timeMarks(fromMs, toMs),
    paths: html`${drawnLines.map((one) => (one.drawn === 'area' ? areaOf(one, scale, share) : null))}
    ${bars.map((one) => barsOf(one, overIn(one, lines), scale))}
    ${drawnLines.map((one) => strokeOf(one, scale, share))}`,
    shapes: html`${drawnLines.map((one) => dotsOf(one, scale, share))}`,
    words: names === undefined ? [] : namesOf(names, lines, scale, share),
    read: readOf(series, scale),
  }
}

/** Fields and styles of the series, and the figures at both ends of the axis. */
function readOf(series: readonly Series[], { ends: [low, high] }: Scale): Html {
  const fields = series.map(({ field, style }) => `${field}:${style}`).join(' ')
  return html` data-series="${fields}" data-low="${low}" data-high="${high}"`
}

/**
 * Labels of a plot, placed so that they cover no mark and not each other. The highest bar is named above all marks,
 * with a line to it. The line is named in the other half, above the marks there.
 */
function namesOf(
  { bars, line: drawn, pointerOf }: Names,
  lines: Lines,
  scale: Scale,
  share: Share,
): readonly ChartWords[] {
  const { starts, bucket, size } = lines
  const height = PLOT_HEIGHTS[size]
  const place = (figure: ChartValue): number => scale.place(figure ?? '0') * height
  const most = greatestIndex(bars.figures)
  const isRight = most !== null && share(most) > 0.5
  const at = isRight ? 0.3 : 0.7
  const near = [bars, drawn].flatMap(({ figures }) =>
    figures.filter((_, index) => Math.abs(share(index) - at) < NEAR + 1 / starts.length),
  )
  const ofLine: ChartWords = {
    rows: [{ shown: drawn.name, style: drawn.style }],
    share: at,
    y: Math.min(scale.zero * height, ...near.map(place)) - ABOVE,
    anchor: 'middle',
  }
  if (most === null) return starts.length === 0 ? [] : [ofLine]
  const center = share(most)
  const figure = html`<tspan data-expr="cut ${pointerOf(most, 'figure')}"
    >${shortAmount(bars.figures[most] ?? '0')}</tspan
  >`
  const form = bucket === 'month' ? 'month' : bucket === 'hour' || bucket === 'minute' ? 'clock' : 'day'
  const day = html`${bucket === 'week' ? 'week of ' : null}<tspan data-expr="${form} ${pointerOf(most, 'at')}"
      >${bucketMark(bucket, Date.parse(starts[most] ?? ''))}</tspan
    >`
  const ofBar: ChartWords = {
    rows: [{ shown: html`${bars.name}: ${figure}`, style: bars.style }, { shown: day }],
    share: center,
    y: TOP,
    anchor: center < 1 / 3 ? 'start' : center > 2 / 3 ? 'end' : 'middle',
    lead: place(bars.figures[most] ?? '0'),
  }
  return [ofBar, ofLine]
}

/** Distance of labels from the marks below them, and base line of a plot's first row, in pixels. */
const ABOVE = 6
const TOP = 12
/** Half the width of a line's label, as a share of a narrow plot. */
const NEAR = 0.19

/** Bars of the buckets. Unfinished buckets are pale. */
function barsOf({ figures, style }: Pick<Series, 'figures' | 'style'>, over: number, scale: Scale): Html {
  const path = (kind: string, from: number, to: number): Html | null =>
    from === to ? null : html`<path class="f${style}${kind}" d="${barsPath(figures, from, to, scale)}" />`
  return html`${path('', 0, over)}${path(' pale', over, figures.length)}`
}

/** Bars from zero, as one path. */
function barsPath(figures: readonly ChartValue[], from: number, to: number, scale: Scale): string {
  const step = BOX / figures.length
  const foot = tenths(scale.zero * BOX)
  const placeOf = (index: number): number => tenths(scale.place(figures[index] ?? '0') * BOX)
  const indices = Array.from({ length: to - from }, (_, index) => from + index)
  if (figures.length > EXACT_MAX) {
    const outline = area<number>()
      .x((index) => index * step)
      .y0(foot)
      .y1((index) => placeOf(Math.min(index, to - 1)))
    return pathOf(outline.curve(curveStepAfter), [...indices, to], figures.length)
  }
  const width = tenths(step * BAR_WIDTH_SHARE)
  return indices
    .filter((index) => placeOf(index) !== foot)
    .map((index) => {
      const x = tenths((index + (1 - BAR_WIDTH_SHARE) / 2) * step)
      return `M${x},${foot}V${placeOf(index)}h${width}V${foot}z`
    })
    .join('')
}

function tenths(place: number): number {
  return Math.round(place * 10) / 10
}

/** Path of a line through its known figures. */
function strokeOf({ figures, style }: Series, scale: Scale, share: Share): Html {
  const draw = line<ChartValue>()
    .defined((figure) => figure !== null)
    .x((_, index) => share(index) * BOX)
    .y((figure) => scale.place(figure ?? '0') * BOX)
  return html`<path class="s${style}" d="${pathOf(draw, figures, figures.length)}" />`
}

/** The area between a line and zero. */
function areaOf({ figures, style }: Series, scale: Scale, share: Share): Html {
  const draw = area<ChartValue>()
    .defined((figure) => figure !== null)
    .x((_, index) => share(index) * BOX)
    .y0(scale.zero * BOX)
    .y1((figure) => scale.place(figure ?? '0') * BOX)
  return html`<path class="f${style} area" d="${pathOf(draw, figures, figures.length)}" />`
}

/** Path of a shape with one decimal. For many buckets it has whole positions in steps, which take fewer characters. */
function pathOf<Item>(shape: Area<Item> | Line<Item>, items: readonly Item[], buckets: number): string {
  if (buckets <= EXACT_MAX) return shape.digits(1)([...items]) ?? ''
  let [x, y] = [0, 0]
  return (shape.digits(0)([...items]) ?? '').replaceAll(/([ML])(-?\d+),(-?\d+)/g, (_, command, ...to) => {
    const [dx, dy] = [Number(to[0]) - x, Number(to[1]) - y]
    x += dx
    y += dy
    return command === 'M' ? `M${x},${y}` : dx === 0 ? `v${dy}` : dy === 0 ? `h${dx}` : `l${dx},${dy}`
  })
}

/** Position of a figure in its bucket, as a share of the bucket. */
function offsetOf({ placement }: Lines): number {
  return placement === 'middle' ? 0.5 : 1
}

/** Number of buckets that a series draws in full. A balance belongs to one moment, so it is never partial. */
function overIn({ figures }: Series, { unfinished, placement }: Lines): number {
  return placement === 'end' ? figures.length : figures.length - unfinished
}

/** Figures that a line shows. It ends before an unfinished bucket, whose lower figure is only partial. */
function shownOf(series: Series, lines: Lines): readonly ChartValue[] {
  const over = overIn(series, lines)
  return over === 0 ? series.figures : series.figures.map((figure, index) => (index < over ? figure : null))
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

/** Bar with its label, its full name and its figure. Unfinished bars come last and are pale. */
type Bar = Readonly<{ label: string; name: string; figure: string; unfinished?: boolean }>

export type Bars = Readonly<{
  id: string
  title: string
  description: string
  bars: readonly Bar[]
  size?: PlotSize
}>

/** HTML figure of a bar chart, with a sentence as caption. A table of the page has the same numbers. */
export function barChart(bars: Bars, sentence: Html): Html {
  return html`<figure class="chart">
    <figcaption>${sentence}</figcaption>
    ${plotOnPage(barPlot(bars))}
  </figure>`
}

/** Plot of bars from zero. */
export function barPlot({ id, title, description, bars, size = 'short' }: Bars): Plot {
  const figures = bars.map(({ figure }) => figure)
  const head = PLOT_HEADS[size] / PLOT_HEIGHTS[size]
  const scale = scaleOf(figures, { head, ...(size === 'short' ? { marks: SHORT_MARKS } : {}) })
  const first = bars.findIndex(({ unfinished }) => unfinished === true)
  return {
    id,
    title,
    description,
    size,
    x: fittingMarks(
      bars.map(({ label }, index) => ({ share: (index + (1 - BAR_WIDTH_SHARE) / 2) / bars.length, label })),
    ),
    y: scale.marks,
    base: scale.zero,
    paths: barsOf({ figures, style: 1 }, first < 0 ? bars.length : first, scale),
    shapes: null,
    words: [],
    dated: true,
    read: marksRead(
      bars.map(({ name, figure }, index) => ({
        x: (index + 0.5) / bars.length,
        y: scale.place(figure),
        name,
        figure,
        style: 1,
      })),
      size,
    ),
  }
}
