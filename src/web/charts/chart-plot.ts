import type { Bucket } from '../../protocol/enumerations.ts'
import { type ChartWords, type SeriesStyle, wordsHtml } from './chart-words.ts'
import { type ChartValue, type Mark, percent } from '../markup/chart-scale.ts'
import type { TimeMark } from './chart-time.ts'
import { type Html, html } from '../markup/html.ts'

export type PlotSize = 'tall' | 'short'

/** Height of plots in pixels, without the dates below. */
export const PLOT_HEIGHTS: Readonly<Record<PlotSize, number>> = { tall: 320, short: 110 }
/** Height above the greatest figure, for the words at it. */
export const PLOT_HEADS: Readonly<Record<PlotSize, number>> = { tall: 44, short: 20 }
/** Height of the dates below a plot. */
export const DATES_HEIGHT = 24
/** Distance of an axis label from its line. */
const LABEL_GAP = 5

/** One figure of each bucket, in order, and how they are drawn. */
export type Series = Readonly<{
  name: string
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
  /** Number of buckets at the end that are not over. */
  unfinished: number
  /** Place of a figure: the middle when it is of the whole bucket, or its end. */
  placement: 'middle' | 'end'
  series: readonly Series[]
  size: PlotSize
  dated: boolean
  /** Whether the axis holds zero. Lines of a price may have an axis without it. */
  zero?: boolean
  annotations?: readonly ChartAnnotation[]
}>

/**
 * Words at the marks of a plot:
 *
 * - `name`: the name of a line, just above it
 * - `peak`: the name, the figure and the bucket of the highest bar, and the figures of the next ones
 * - `last`: the figure of the last complete bucket of a line
 * - `moment`: words at a moment of the range
 *
 * `pointerOf` is the JSON pointer of a figure, or of a bucket's start, for checks against the answer.
 */
export type ChartAnnotation =
  | Readonly<{ at: 'name'; series: Series }>
  | Readonly<{ at: 'peak' | 'last'; series: Series; pointerOf: PointerOf }>
  | Readonly<{ at: 'moment'; atMs: number; text: string; pointer: string }>

type PointerOf = (index: number, field: 'figure' | 'at') => string

/** Place of a bucket's figure as a share of the width. */
export type Share = (index: number) => number

/** A drawn plot: axes, paths and shapes that stretch to any width, and words that do not. */
export type Plot = Readonly<{
  /** Id of the element, and prefix of the ids of its parts. */
  id: string
  title: string
  /** Description for screen readers. */
  description: string
  y: readonly Mark[]
  /** Place of the base line, as a share of the height; null if there is none. */
  base: number | null
  x: readonly TimeMark[]
  /** Paths in a box of `BOX` by `BOX`, which is stretched over the plot and loses its proportions. */
  paths: Html
  /** Elements placed by percentages, which keep their proportions. */
  shapes: Html | null
  words: readonly ChartWords[]
  size: PlotSize
  /** Whether the plot has labels of time, and not one below it. */
  dated: boolean
}>

/** Share of a bucket's width that its bar takes. */
export const BAR_WIDTH_SHARE = 0.68
/** Side of the box for paths. */
export const BOX = 1_000

/** A plot on a page, as wide as its container, with text of the page's size. */
export function plotOnPage(plot: Plot): Html {
  const { id, title, description, size, dated } = plot
  const height = PLOT_HEIGHTS[size] + (dated ? DATES_HEIGHT : 0)
  return html`<svg
    class="plot"
    id="${id}"
    height="${height}"
    role="img"
    aria-labelledby="${id}-title ${id}-desc"
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
  return html`${y.map((mark) => hairline(mark, height))}
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
    ${base === null ? null : html`<line class="axis" x2="100%" y1="${lineAt(base * height)}" y2="${lineAt(base * height)}" />`}
    ${x.map((mark) => timeMark(mark, { height, dated, form }))}
    ${y.map((mark) => axisLabel(mark, { height, base, form }))} ${wordsHtml(words, form)}`
}

/** Middle of a pixel, where a line of one pixel is sharp. */
function lineAt(y: number): number {
  return Math.round(y) + 0.5
}

function hairline({ share }: Mark, height: number): Html {
  return html`<line class="hair" x2="100%" y1="${lineAt(share * height)}" y2="${lineAt(share * height)}" />`
}

type AxisPlace = Readonly<{ height: number; base: number | null; form: 'page' | 'picture' }>

/** Label above a line. A page has a shorter one for narrow plots if it differs. */
function axisLabel({ share, label, brief }: Mark, { height, base, form }: AxisPlace): Html | null {
  if (share === base) return null
  const y = Math.round(share * height) - LABEL_GAP
  const text = (kind: string, said: string): Html =>
    html`<text data-axis="" class="halo${kind}" y="${y}">${said}</text>`
  if (label === brief || form === 'picture') return text('', label)
  return html`${text(' w', label)} ${text(' nw', brief)}`
}

/** Places that the labels of the axis take, for other words. */
export function axisWords(
  marks: readonly Mark[],
  { size, base, only }: Readonly<{ size: PlotSize; base: number | null; only: 'wide' | 'narrow' }>,
): readonly Omit<ChartWords, 'only'>[] {
  return marks
    .filter(({ share }) => share !== base)
    .map(({ share, label, brief }) => ({
      rows: [{ text: only === 'wide' ? label : brief }],
      share: 0,
      dx: 0,
      y: Math.round(share * PLOT_HEIGHTS[size]) - LABEL_GAP,
      anchor: 'start',
    }))
}

type TimePlace = Readonly<{ height: number; dated: boolean; form: 'page' | 'picture' }>

function timeMark({ share, label, fits }: TimeMark, { height, dated, form }: TimePlace): Html {
  const x = percent(share)
  const kind = fits === 'both' || form === 'picture' ? '' : html` class="w"`
  return html`<line class="hair" x1="${x}" x2="${x}" y1="${height}" y2="${height + 7}" />
    ${dated && fits !== 'none' ? html`<text data-axis="" ${kind} x="${x}" dx="5" y="${height + 18}">${label}</text>` : null}`
}
