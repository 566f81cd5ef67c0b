import type { Mark } from '../markup/chart-scale.ts'
import { percent } from '../markup/chart-scale.ts'
import type { TimeMark } from './chart-time.ts'
import type { Html } from '../markup/html.ts'
import { html } from '../markup/html.ts'

/** Number of a series, which decides its colour and dashes. */
export type SeriesStyle = 1 | 2 | 3 | 4

/** A drawn plot: axes, paths and shapes that stretch to any width. */
export type Plot = Readonly<{
  /** Id of the element, and prefix of the ids of its parts. */
  id: string
  title: string
  /** Description for screen readers. */
  description: string
  y: readonly Mark[]
  x: readonly TimeMark[]
  /** Paths in a box of `BOX` by `BOX`, which is stretched over the plot and loses its proportions. */
  paths: Html
  /** Elements placed by percentages, which keep their proportions. */
  shapes: Html | null
  size: 'tall' | 'short'
  /** Whether the plot has labels of time, and not one below it. */
  dated: boolean
  /** Number of points side by side. Many need a picture wider than the page. */
  points: number
}>

/** Share of the width beyond which a coarse label of time ends at its mark. */
const LAST_SHARE = 0.9

/** Side of the box for paths. */
export const BOX = 1_000

/** Widths with the most points of each, so that each point has two pixels. */
const WIDTHS: readonly (readonly [points: number, name: string])[] = [
  [150, 'fit'],
  [350, 'wider'],
  [800, 'widest'],
]

/** Name of the width in which each point has two pixels. */
export function widthOf(points: number): string {
  return WIDTHS.find(([most]) => points <= most)?.[1] ?? 'longest'
}

/** A plot on a page, as wide as its container, with text of the page's size. */
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

/** Content of a plot, placed by percentages of its element. */
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
  // The coarse label is longer: in a narrow picture half of it would overflow at the right.
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

/** Hatching for unfinished parts, used as `fill="url(#…-hatch)"` with the plot's id. */
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

/** Hatched area from a share of the width to the end. */
export function hatched(id: string, from: number): Html {
  return html`${hatchOf(id)}
    <rect x="${percent(from)}" width="${percent(1 - from)}" height="100%" fill="url(#${id}-hatch)" />`
}

/** Legend of a chart: names with samples of the lines, and the meaning of hatching. */
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
