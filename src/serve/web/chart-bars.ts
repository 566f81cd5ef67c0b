import { scaleBand } from 'd3-scale'
import type { SeriesStyle } from './chart-plot.ts'
import { plotOnPage } from './chart-plot.ts'
import type { Scale } from './chart-scale.ts'
import { percent, scaleOf } from './chart-scale.ts'
import type { Html } from './html.ts'
import { html } from './html.ts'

/** One bar: what stands under it, and how high it is. One that is not over is only drawn around. */
export type Bar = Readonly<{ label: string; figure: string; unfinished?: boolean }>

export type Bars = Readonly<{
  id: string
  title: string
  description: string
  bars: readonly Bar[]
  style?: SeriesStyle
  size?: 'tall' | 'short'
}>

const GAP = 0.25
/** More labels than this run into each other in a wide picture, or in a narrow one. */
const WIDE_LABELS_MAX = 13
const NARROW_LABELS_MAX = 5

/** Bars side by side, from zero. What they show stands in a table of the page that draws them. */
export function barChart({ id, title, description, bars, style = 1, size = 'short' }: Bars): Html {
  const scale = scaleOf(bars.map(({ figure }) => figure))
  const band = scaleBand<number>()
    .domain(bars.map((_, index) => index))
    .paddingInner(GAP)
    .paddingOuter(GAP / 2)
  const wide = Math.ceil(bars.length / WIDE_LABELS_MAX)
  const narrow = wide * Math.ceil(bars.length / wide / NARROW_LABELS_MAX)
  const x = bars.flatMap(({ label }, index) => {
    const share = (band(index) ?? 0) + band.bandwidth() / 2
    return index % wide === 0 ? [{ share, label, coarse: null, spare: index % narrow !== 0 }] : []
  })
  return html`<figure class="chart">
    ${plotOnPage({
      id,
      title,
      description,
      size,
      x,
      y: scale.marks,
      paths: html``,
      shapes: html`${bars.map((bar, index) => rectOf(bar, style, scale, band(index) ?? 0, band.bandwidth()))}`,
      dated: true,
      points: bars.length,
    })}
  </figure>`
}

function rectOf(
  { figure, unfinished }: Bar,
  style: SeriesStyle,
  scale: Scale,
  x: number,
  width: number,
): Html {
  const end = scale.place(figure)
  const top = Math.min(end, scale.zero)
  const height = Math.abs(end - scale.zero)
  const kind = unfinished === true ? `s${style}` : `f${style}`
  return html`<rect
    class="${kind}"
    x="${percent(x)}"
    width="${percent(width)}"
    y="${percent(top)}"
    height="${percent(height)}"
  />`
}
