import type { Plot } from './chart-plot.ts'
import { percent, rounded } from '../markup/chart-scale.ts'
import { timeMarks } from './chart-time.ts'
import { type Html, html } from '../markup/html.ts'

/** A span of time: filled up to `beenMs`, pale after it. */
export type ChartSpan = Readonly<{ mark: string; name: string; fromMs: number; beenMs: number; toMs: number }>

export type Spans = Readonly<{
  id: string
  title: string
  description: string
  /** Moment of the last event, marked by a line when it is in range. */
  nowMs: number
  spans: readonly ChartSpan[]
}>

/** Most rows of a short plot. */
const SHORT_ROWS_MAX = 3
/** Positions in a row, as shares of its height: the name above, the bar below. */
const NAME_SHARE = 0.42
const BAR_SHARE = 0.55
const BAR_HEIGHT_SHARE = 0.28
const UPRIGHT_SHARE = 0.48
/** Least width of a bar, as a share of the plot, so that it stays visible. */
const WIDTH_SHARE_MIN = 0.004

/** Plot with a row for each span, from the first start to the last end. */
export function spanPlot({ id, title, description, nowMs, spans }: Spans): Plot {
  const { fromMs, toMs } = spanExtent(spans, nowMs)
  const share = (ms: number): number => rounded((ms - fromMs) / Math.max(1, toMs - fromMs))
  const height = 1 / Math.max(1, spans.length)
  const isInSight = nowMs > fromMs && nowMs < toMs
  return {
    id,
    title,
    description,
    y: [],
    base: null,
    words: [],
    x: timeMarks(fromMs, toMs),
    paths: html``,
    shapes: html`${spans.map((_, row) => rowOf((row + BAR_SHARE + BAR_HEIGHT_SHARE / 2) * height))}
      ${spans.map((span, row) => barOf(span, { share, top: (row + BAR_SHARE) * height, height: BAR_HEIGHT_SHARE * height }))}
      ${isInSight ? spans.map((_, row) => upright(share(nowMs), row * height, height)) : null}
      <svg width="100%" height="100%" overflow="visible">
        ${spans.map((span, row) => nameOf(span, (row + NAME_SHARE) * height))}
      </svg>`,
    size: spans.length <= SHORT_ROWS_MAX ? 'short' : 'tall',
    dated: true,
  }
}

/** Time from the first start to the last end; empty without spans. */
export function spanExtent(
  spans: readonly ChartSpan[],
  nowMs: number,
): Readonly<{ fromMs: number; toMs: number }> {
  const fromMs = Math.min(...spans.map((span) => span.fromMs))
  const toMs = Math.max(...spans.map((span) => span.toMs))
  return spans.length === 0 ? { fromMs: nowMs, toMs: nowMs } : { fromMs, toMs }
}

function rowOf(share: number): Html {
  return html`<line class="hair" x2="100%" y1="${percent(share)}" y2="${percent(share)}" /> `
}

/** Mark and name above a bar. The mark is not an axis label, so tests compare it with the answers. */
function nameOf({ mark, name }: ChartSpan, share: number): Html {
  return html`<text y="${percent(share)}"><tspan>${mark}</tspan> <tspan class="ink">${name}</tspan></text>`
}

/** Part of the vertical line in one row, so that it crosses no name. */
function upright(x: number, top: number, height: number): Html {
  const [y1, y2] = [top + UPRIGHT_SHARE * height, top + height]
  return html`<line
    class="axis"
    x1="${percent(x)}"
    x2="${percent(x)}"
    y1="${percent(y1)}"
    y2="${percent(y2)}"
  />`
}

type Place = Readonly<{ share: (ms: number) => number; top: number; height: number }>

function barOf({ fromMs, beenMs, toMs }: ChartSpan, { share, top, height }: Place): Html {
  const [from, been, to] = [share(fromMs), share(beenMs), share(toMs)]
  const rect = (attributes: Html, x: number, end: number): Html =>
    html`<rect
      ${attributes}
      x="${percent(x)}"
      width="${percent(Math.max(WIDTH_SHARE_MIN, end - x))}"
      y="${percent(top)}"
      height="${percent(height)}"
    />`
  const planned = toMs > beenMs ? rect(html`class="f1 pale"`, been, to) : null
  return html`${planned} ${beenMs > fromMs ? rect(html`class="f1"`, from, been) : null}`
}
