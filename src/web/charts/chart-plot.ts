import type { Bucket } from '../../protocol/enumerations.ts'
import { type ChartValue, type Mark, percent, rounded } from '../markup/chart-scale.ts'
import { shortAmount } from '../markup/amount-html.ts'
import type { TimeMark } from './chart-time.ts'
import { type Html, html, type Part } from '../markup/html.ts'

export type PlotSize = 'tall' | 'short'

/** Height of plots in pixels, without the dates below. */
export const PLOT_HEIGHTS: Readonly<Record<PlotSize, number>> = { tall: 320, short: 110 }
/** Height above the greatest figure, for its label. */
export const PLOT_HEADS: Readonly<Record<PlotSize, number>> = { tall: 52, short: 20 }
/** Height of the dates below a plot. */
export const DATES_HEIGHT = 24
/** Distance of an axis label from its line. */
const LABEL_GAP = 5
/** Width left of a plot for the labels of its vertical axis, in pixels. Class `inset` has the same on a page. */
const AXIS_WIDTH = 48

/** Number of a series, which decides its colour: spent, paid, burned, price. */
export type SeriesStyle = 1 | 2 | 3 | 4

/** Figures of a series, one for each bucket in order, and their style. `field` is theirs in a bucket. */
export type Series = Readonly<{
  name: string
  field: string
  style: SeriesStyle
  figures: readonly ChartValue[]
  drawn: 'line' | 'area' | 'bars'
}>

/** Series over buckets, which have the same width on the page. All have the same unit, because they share an axis. */
export type Lines = Readonly<{
  id: string
  title: string
  fromMs: number
  toMs: number
  bucket: Bucket
  /** Start of each bucket. */
  starts: readonly string[]
  /** Number of unfinished buckets at the end. */
  unfinished: number
  /** Position of a figure: in the middle if it covers the whole bucket, otherwise at its end. */
  placement: 'middle' | 'end'
  series: readonly Series[]
  size: PlotSize
  dated: boolean
  /** Whether the axis includes zero. A price may have an axis without it. */
  zero?: boolean
  names?: Names
}>

/**
 * Series that the plot labels. The line has a label, and so has the highest bar, with its figure and its bucket.
 * `pointerOf` returns the JSON pointer of a figure of the bars, or of its bucket's start, for checks against the
 * answer.
 */
export type Names = Readonly<{
  bars: Series
  line: Series
  pointerOf(index: number, field: 'figure' | 'at'): string
}>

/** Label on a plot, in lines. */
export type ChartWords = Readonly<{
  rows: readonly Readonly<{ shown: Part; style?: SeriesStyle }>[]
  /** Place as a share of the width. */
  share: number
  /** Base line of the first row, in pixels from the top. */
  y: number
  anchor: 'start' | 'middle' | 'end'
  /** Height in pixels of the mark to which a thin line leads. */
  lead?: number
}>

/** Drawn plot: axes, paths and shapes that stretch to any width, and labels that do not. */
export type Plot = Readonly<{
  /** Id of the element, and prefix of the ids of its parts. */
  id: string
  title: string
  /** Description for screen readers. */
  description: string
  y: readonly Mark[]
  /** Position of the base line, as a share of the height; null if there is none. */
  base: number | null
  x: readonly TimeMark[]
  /** Paths in a box of `BOX` by `BOX`, which is stretched over the plot without keeping proportions. */
  paths: Html
  /** Elements placed by percentages, which keep their proportions. */
  shapes: Html | null
  words: readonly ChartWords[]
  size: PlotSize
  /** Whether the plot itself has labels of time. */
  dated: boolean
  /** Attributes from which a script reads a bucket; none on a plot without buckets. */
  read?: Html | null
}>

/** Side of the box for paths. */
export const BOX = 1_000

/** Mark that a script reads: its place as shares of the plot, its name, its figure and its style. */
export type ReadMark = Readonly<{ x: number; y: number; name: string; figure: string; style: SeriesStyle }>

/** Attribute with the marks of a plot of few figures. Figures are short, as on the page. */
export function marksRead(marks: readonly ReadMark[], size: PlotSize): Html | null {
  if (marks.length === 0) return null
  const rows = marks.map(({ x, y, name, figure, style }) => [
    rounded(x),
    Math.round(y * PLOT_HEIGHTS[size]),
    name,
    shortAmount(figure),
    style,
  ])
  return html` data-marks="${JSON.stringify(rows)}"`
}

/** Width of the labels left of a plot, in pixels: none without a vertical axis. */
export function axisWidth({ y }: Pick<Plot, 'y'>): number {
  return y.length === 0 ? 0 : AXIS_WIDTH
}

/** Plot on a page, with its axis as wide as its container, and with text of the page's size. */
export function plotOnPage(plot: Plot): Html {
  const { id, title, description, size, dated, read } = plot
  const height = PLOT_HEIGHTS[size] + (dated ? DATES_HEIGHT : 0)
  return html`<svg
    class="plot${axisWidth(plot) === 0 ? '' : ' inset'}"
    id="${id}"
    height="${height}"
    role="img"
    aria-labelledby="${id}-title ${id}-desc"
    ${read ?? null}
  >
    <title id="${id}-title">${title}</title>
    <desc id="${id}-desc">${description}</desc>
    ${contentOf(plot, 'page')}
  </svg>`
}

/** Content of a plot, placed by percentages of the width and pixels of the height. */
export function contentOf(
  { y, base, x, paths, shapes, words, size, dated }: Plot,
  form: 'page' | 'picture',
): Html {
  const height = PLOT_HEIGHTS[size]
  return html`${y.map(({ share }) => acrossAt('hair', share * height))}
    <svg width="100%" height="${height}" overflow="visible">
      <svg
        viewBox="0 0 ${BOX} ${BOX}"
        preserveAspectRatio="none"
        width="100%"
        height="100%"
        overflow="visible"
      >
        ${paths}
      </svg>
      ${shapes}
    </svg>
    ${base === null ? null : acrossAt('axis', base * height)}
    ${x.map((mark) => timeMark(mark, { height, dated, form }))}
    ${y.map((mark) => axisLabel(mark, height, base))} ${words.map(wordsHtml)}`
}

/** Middle of a pixel, where a line of one pixel is sharp. */
function lineAt(y: number): number {
  return Math.round(y) + 0.5
}

/** Line across a plot and the labels on its left. */
function acrossAt(kind: 'hair' | 'axis', y: number): Html {
  return html`<line class="${kind}" x1="-${AXIS_WIDTH}" x2="100%" y1="${lineAt(y)}" y2="${lineAt(y)}" />`
}

/** Label above a line, left of the plot. */
function axisLabel({ share, label }: Mark, height: number, base: number | null): Html | null {
  if (share === base) return null
  const y = Math.round(share * height) - LABEL_GAP
  return html`<text data-axis="" class="halo" x="-${AXIS_WIDTH}" y="${y}">${label}</text>`
}

/** Height of a row of labels, and of letters below their base line. */
const ROW_HEIGHT = 16
const DESCENT = 4

/** Labels as SVG text in front of everything else, with the thin line to their mark. */
function wordsHtml({ rows, share, y, anchor, lead }: ChartWords): Html {
  const x = percent(share)
  const from = y + (rows.length - 1) * ROW_HEIGHT + DESCENT
  const line =
    lead === undefined
      ? null
      : html`<line class="axis" x1="${x}" x2="${x}" y1="${from}" y2="${Math.round(lead)}" />`
  return html`${line}
  ${rows.map(
    ({ shown, style }, index) =>
      html`<text
        class="${style === undefined ? '' : `t${style} `}halo"
        x="${x}"
        y="${Math.round(y) + index * ROW_HEIGHT}"
        text-anchor="${anchor}"
        >${shown}</text
      >`,
  )}`
}

type TimePlace = Readonly<{ height: number; dated: boolean; form: 'page' | 'picture' }>

function timeMark({ share, label, fits }: TimeMark, { height, dated, form }: TimePlace): Html {
  const x = percent(share)
  const kind = fits === 'both' || form === 'picture' ? '' : html` class="w"`
  return html`<line class="hair" x1="${x}" x2="${x}" y1="${height}" y2="${height + 7}" />
    ${dated && fits !== 'none' ? html`<text data-axis="" ${kind} x="${x}" dx="5" y="${height + 18}">${label}</text>` : null}`
}
