import type { Mark } from '../markup/chart-scale.ts'
import { percent } from '../markup/chart-scale.ts'
import type { TimeMark } from './chart-time.ts'
import type { Html } from '../markup/html.ts'
import { html } from '../markup/html.ts'

/** A line of a chart by its place in the order of series: each has its colour and its dashes. */
export type SeriesStyle = 1 | 2 | 3 | 4

/** What a chart draws: axes, and marks in a box that stretches to any width. */
export type Plot = Readonly<{
  /** Of the element; those of its parts begin with it, so a document may hold several. */
  id: string
  title: string
  /** What the picture shows, in words, for who cannot see it. */
  description: string
  y: readonly Mark[]
  x: readonly TimeMark[]
  /** Paths in a box of `BOX` by `BOX` that is stretched over the plot: nothing in it keeps its shape. */
  paths: Html
  /** Elements placed by percentages: they keep their shape. */
  shapes: Html | null
  size: 'tall' | 'short'
  /** Whether time is written below, or by a plot under this one. */
  dated: boolean
  /** How many points stand side by side: many need a picture that is wider than the page. */
  points: number
}>

/** The coarser of two labels of time ends at its mark beyond this share of the width. */
const LAST_SHARE = 0.9

/** The sides of the box that paths are drawn in. */
export const BOX = 1_000

/** More points than the last of these need the next width, so that each has two pixels of it. */
const WIDTHS: readonly (readonly [points: number, name: string])[] = [
  [150, 'fit'],
  [350, 'wider'],
  [800, 'widest'],
]

/** The name of the width in which each point has two pixels. */
export function widthOf(points: number): string {
  return WIDTHS.find(([most]) => points <= most)?.[1] ?? 'longest'
}

/** A plot on a page: as wide as there is room, its text in the page's own size. */
export function plotOnPage(plot: Plot): Html {
  const { id, title, description, size, dated } = plot
  return html`<svg
    class="plot ${size}${dated ? '' : ' undated'}"
    id="${id}"
    role="img"
    aria-labelledby="${id}-title ${id}-desc"
  >
    <title id="${id}-title">${title}</title>
    <desc id="${id}-desc">${description}</desc>
    ${contentOf(plot)}
  </svg>`
}

/** Everything inside of a plot, placed by shares of the element around it. */
export function contentOf({ y, x, paths, shapes, dated }: Plot): Html {
  return html`${y.map(hairline)} ${x.map((mark) => timeMark(mark, dated))} ${shapes}
    <svg viewBox="0 0 ${BOX} ${BOX}" preserveAspectRatio="none" width="100%" height="100%" overflow="visible">
      ${paths}
    </svg>`
}

function hairline({ share, label }: Mark): Html {
  return html`<line
      class="${label === '0' ? 'axis' : 'hair'}"
      x2="100%"
      y1="${percent(share)}"
      y2="${percent(share)}"
    />
    <text data-axis="" class="y" x="-8" y="${percent(share)}" dy="4">${label}</text>`
}

function timeMark({ share, label, coarse, spare }: TimeMark, dated: boolean): Html {
  const x = percent(share)
  const narrow = (left: boolean): string => (left ? ' spare' : '')
  // It is the longer one: where the picture is narrow, its half would stand out at the right.
  const last = share > LAST_SHARE ? ' last' : ''
  return html`<rect class="tick${narrow(spare)}" x="${x}" y="100%" width="1" height="5" />
    ${dated ? html`<text data-axis="" class="x${narrow(spare)}" x="${x}" y="100%" dy="20">${label}</text>` : null}
    ${
      dated && coarse !== null
        ? html`<text data-axis="" class="x coarse${last}${narrow(coarse.spare)}" x="${x}" y="100%" dy="38"
            >${coarse.label}</text
          >`
        : null
    }`
}

/** The hatching of what is not over yet: `fill="url(#…-hatch)"` of the plot's id. */
export function hatchOf(id: string): Html {
  return html`<pattern
    id="${id}-hatch"
    width="6"
    height="6"
    patternUnits="userSpaceOnUse"
    patternTransform="rotate(45)"
  >
    <line class="hatch" y2="6" />
  </pattern>`
}

/** What is not over yet, hatched from a share of the width to its end. */
export function hatched(id: string, from: number): Html {
  return html`${hatchOf(id)}
    <rect x="${percent(from)}" width="${percent(1 - from)}" height="100%" fill="url(#${id}-hatch)" />`
}

/** The lines of a chart by name, each beside a sample of it, and what hatching means where there is some. */
export function legend(
  lines: readonly Readonly<{ name: string; style: SeriesStyle }>[],
  unfinished: boolean,
  meaning = 'not over yet',
): Html {
  return html`<ul class="legend">
    ${lines.map(
      ({ name, style }) =>
        html`<li>
          <svg aria-hidden="true" width="36" height="12">
            <line class="s${style}" x2="36" y1="6" y2="6" />
          </svg>
          ${name}
        </li>`,
    )}
    ${unfinished ? html`<li><span class="hatched"></span> hatched: ${meaning}</li>` : null}
  </ul>`
}
