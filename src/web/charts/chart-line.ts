import { line } from 'd3-shape'
import type { Plot, SeriesStyle } from './chart-plot.ts'
import { BOX, hatched } from './chart-plot.ts'
import type { ChartValue, Scale } from '../markup/chart-scale.ts'
import { digitsOf, percent, scaleOf } from '../markup/chart-scale.ts'
import { monthMarks, timeMarks } from './chart-time.ts'
import type { Bucket } from '../../protocol/range-resources.ts'
import type { Html } from '../markup/html.ts'
import { html } from '../markup/html.ts'
import { momentText } from '../markup/moment-html.ts'

/** One figure of each bucket, in order. */
type Series = Readonly<{ name: string; style: SeriesStyle; figures: readonly ChartValue[] }>

/** Lines over buckets, which have the same width on the page. All have the same unit, because they share an axis. */
export type Lines = Readonly<{
  id: string
  title: string
  fromMs: number
  toMs: number
  bucket: Bucket
  /** Start of each bucket. */
  starts: readonly string[]
  /** Number of buckets at the end that are not over. */
  unfinished: number
  /** Place of a figure: the middle when it is of the whole bucket, or its end. */
  placement: 'middle' | 'end'
  series: readonly Series[]
  size: 'tall' | 'short'
  dated: boolean
}>

/** Number of marks on the axis of a short plot. */
const SHORT_MARKS = 3

/** Plot of lines. An unknown figure breaks the line; a figure without neighbours is a dot. */
export function linePlot(lines: Lines): Plot {
  const { id, title, fromMs, toMs, bucket, series, size, dated, unfinished, placement } = lines
  const points = lines.starts.length
  const all = series.flatMap(({ figures }) => figures)
  const scale = size === 'tall' ? scaleOf(all) : scaleOf(all, SHORT_MARKS)
  const share = (index: number): number => (index + (placement === 'middle' ? 0.5 : 1)) / points
  return {
    id,
    title,
    size,
    dated,
    points,
    description: series.map((one) => described(one, lines.starts)).join(' '),
    y: scale.marks,
    x: bucket === 'month' ? monthMarks(fromMs, toMs) : timeMarks(fromMs, toMs),
    paths: html`${series.map((one) => pathsOf(one, lines, scale, share))}`,
    shapes: html`${unfinished > 0 && points > 0 ? hatched(id, (points - unfinished) / points) : null}
    ${series.map((one) => dotsOf(one, scale, share))}`,
  }
}

/**
 * Path of a series. It is paler towards a bucket that is not over, because a lower figure there is only partial.
 */
function pathsOf(
  { figures, style }: Series,
  { unfinished, placement }: Lines,
  scale: Scale,
  share: (index: number) => number,
): Html {
  const over = placement === 'end' ? figures.length : figures.length - unfinished
  const path = (shown: (index: number) => boolean): string =>
    linePath(
      figures.map((figure, index) => (shown(index) ? figure : null)),
      scale,
      share,
    )
  const whole = html`<path class="s${style}" d="${path((index) => index < over)}" />`
  if (over === figures.length) return whole
  return html`${whole}<path class="s${style}" opacity="0.4" d="${path((index) => index >= over - 1)}" />`
}

/** Most points with exact places. More points have whole places, a third of a pixel, to keep the page small. */
const POINTS_EXACT_MAX = 300

/** Path through the known figures. */
export function linePath(
  figures: readonly ChartValue[],
  scale: Scale,
  share: (index: number) => number,
): string {
  const near = figures.length > POINTS_EXACT_MAX ? Math.round : (place: number): number => place
  const draw = line<ChartValue>()
    .defined((figure) => figure !== null)
    .x((_, index) => share(index) * BOX)
    .y((figure) => near(scale.place(figure ?? '0') * BOX))
    .digits(1)
  return draw(figures) ?? ''
}

/** Dots of the figures without neighbours. */
function dotsOf({ figures, style }: Series, scale: Scale, share: (index: number) => number): readonly Html[] {
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
