import { scaleBand } from 'd3-scale'
import type { Plot, SeriesStyle } from './chart-plot.ts'
import { hatchOf, plotOnPage } from './chart-plot.ts'
import type { Scale } from '../markup/chart-scale.ts'
import { percent, scaleOf } from '../markup/chart-scale.ts'
import { coarseMarks } from './chart-time.ts'
import type { Html } from '../markup/html.ts'
import { html } from '../markup/html.ts'

/**
 * One bar: its label, the coarser unit of the label (shown where it changes), and its figure. An unfinished bar is
 * hatched.
 */
type Bar = Readonly<{ label: string; coarse?: string; figure: string; unfinished?: boolean }>

export type Bars = Readonly<{
  id: string
  title: string
  description: string
  bars: readonly Bar[]
  style?: SeriesStyle
  size?: 'tall' | 'short'
}>

const GAP = 0.25
/** Most labels that fit a wide picture, and a narrow one. */
const WIDE_LABELS_MAX = 13
const NARROW_LABELS_MAX = 5

/** Figure of bars with a sentence. A table of the page has the same numbers. */
export function barChart(bars: Bars, sentence: Html | null = null): Html {
  return html`<figure class="chart">
    ${sentence === null ? null : html`<figcaption>${sentence}</figcaption>`} ${plotOnPage(barPlot(bars))}
  </figure>`
}

/** Plot of bars from zero. */
export function barPlot({ id, title, description, bars, style = 1, size = 'short' }: Bars): Plot {
  const scale = scaleOf(bars.map(({ figure }) => figure))
  const band = scaleBand<number>()
    .domain(bars.map((_, index) => index))
    .paddingInner(GAP)
    .paddingOuter(GAP / 2)
  const wide = Math.ceil(bars.length / WIDE_LABELS_MAX)
  const narrow = wide * Math.ceil(bars.length / wide / NARROW_LABELS_MAX)
  const marked = bars.flatMap(({ label, coarse = null }, index) => {
    const share = (band(index) ?? 0) + band.bandwidth() / 2
    return index % wide === 0 ? [{ share, label, coarse, spare: index % narrow !== 0 }] : []
  })
  const coarse = coarseMarks(
    marked.map((mark) => mark.coarse),
    marked.map(({ share }) => share),
  )
  const x = marked.map((mark, index) => ({ ...mark, coarse: coarse[index] ?? null }))
  const unfinished = bars.some((bar) => bar.unfinished === true)
  const drawn = bars.map((bar, index) =>
    rectOf(bar, { id, style, scale, x: band(index) ?? 0, width: band.bandwidth() }),
  )
  return {
    id,
    title,
    description,
    size,
    x,
    y: scale.marks,
    paths: html``,
    shapes: html`${unfinished ? hatchOf(id) : null} ${drawn}`,
    dated: true,
    points: bars.length,
  }
}

type Place = Readonly<{ id: string; style: SeriesStyle; scale: Scale; x: number; width: number }>

function rectOf({ figure, unfinished }: Bar, { id, style, scale, x, width }: Place): Html {
  const end = scale.place(figure)
  const top = Math.min(end, scale.zero)
  const height = Math.abs(end - scale.zero)
  const rect = (attributes: Html): Html =>
    html`<rect
      ${attributes}
      x="${percent(x)}"
      width="${percent(width)}"
      y="${percent(top)}"
      height="${percent(height)}"
    />`
  if (unfinished !== true) return rect(html`class="f${style}"`)
  return html`${rect(html`fill="url(#${id}-hatch)"`)} ${rect(html`class="s${style}"`)}`
}
