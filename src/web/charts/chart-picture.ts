import type { Bars } from './chart-bars.ts'
import { barPlot } from './chart-bars.ts'
import type { Panel } from './chart-figure.ts'
import { contentOf } from './chart-plot.ts'
import type { Theme } from '../markup/chart-theme.ts'
import { pictureStyle, THEMES } from '../markup/chart-theme.ts'
import type { AsOf } from '../../protocol/resources.ts'
import type { Html } from '../markup/html.ts'
import { html } from '../markup/html.ts'
import { momentText } from '../markup/moment-html.ts'
import type { View } from '../frame/page.ts'

/** Width of a picture, and its margins. */
const PICTURE_WIDTH = 900
const LEFT = 76
const RIGHT = 24
const HEAD = 72
const LEGEND = 28
const DATES = 48
const FOOT = 28
const HEIGHTS = { tall: 230, short: 110 } as const
/** Most characters of the drawn title. The `title` element has the whole text. */
const NAME_CHARS_MAX = 70

/** Width of the plots of a picture. */
const PLOT_WIDTH: number = PICTURE_WIDTH - LEFT - RIGHT

/** Texts of a picture, which may be shown anywhere. */
type Caption = Readonly<{
  title: string
  /** Null when the answer has none. */
  asOf: AsOf | null
  range: string
  source: string
  simulated: boolean
  /** Whether a part is hatched because it is not over. The foot then explains it. */
  growing?: boolean
}>

/** Charts as a stand-alone SVG: title, state, legend, plots and source. */
export function chartPicture(caption: Caption, panels: readonly Panel[], theme: Theme): Html {
  let y = HEAD
  const drawn = panels.map(({ plot, lines }) => {
    const top = y + LEGEND
    const height = HEIGHTS[plot.size]
    y = top + height + (plot.dated ? DATES : 8)
    return html`${legendIn(lines, top - 14)}
      <svg x="${LEFT}" y="${top}" width="${PLOT_WIDTH}" height="${height}" overflow="visible">
        ${contentOf(plot)}
      </svg>`
  })
  const description = panels.map(({ plot }) => plot.description).join(' ')
  return framed(caption, { body: html`${drawn}`, height: y, description, theme })
}

/** Frame of a picture around its body. `height` includes the head. */
export function framed(
  { title, asOf, range, source, simulated, growing = false }: Caption,
  {
    body,
    height,
    description,
    theme,
  }: Readonly<{ body: Html; height: number; description: string; theme: Theme }>,
): Html {
  const whole = height + FOOT
  const state =
    asOf === null
      ? ''
      : `; ${asOf.at === null ? 'no event yet' : `state at ${momentText(asOf.at)}, event #${asOf.seq}`}`
  return html`<svg
    xmlns="http://www.w3.org/2000/svg"
    viewBox="0 0 ${PICTURE_WIDTH} ${whole}"
    width="${PICTURE_WIDTH}"
    height="${whole}"
    role="img"
    aria-labelledby="title desc"
  >
    <title id="title">${title}</title>
    <desc id="desc">${description}</desc>
    <style>
      ${{ markup: pictureStyle(theme) }}
    </style>
    <rect class="bg" width="100%" height="100%" />
    <text class="name" x="${RIGHT}" y="36">${clipped(title, NAME_CHARS_MAX)}</text>
    <text x="${RIGHT}" y="60">${range}${state}</text>
    ${body}
    <text x="${RIGHT}" y="${whole - 14}">
      ${source}${simulated ? ' · simulated platform, no real money' : ''} · Informational only.
    </text>
    ${growing ? html`<text class="y" x="${PICTURE_WIDTH - RIGHT}" y="${whole - 14}">hatched: not over yet</text>` : null}
  </svg>`
}

function legendIn(lines: Panel['lines'], y: number): Html {
  let x = LEFT
  return html`${lines.map(({ name, style }) => {
    const here = x
    // Estimated width; text of this size is seldom wider in any font.
    x += 44 + name.length * 7.5 + 20
    return html`<line class="s${style}" x1="${here}" x2="${here + 36}" y1="${y - 4}" y2="${y - 4}" />
      <text x="${here + 44}" y="${y}">${name}</text>`
  })}`
}

/** Bars as a stand-alone SVG. The legend names their measure. */
export function barPicture(
  bars: Bars,
  {
    title,
    asOf,
    range,
    legend,
  }: Readonly<{ title: string; asOf: AsOf | null; range: string; legend: string }>,
  view: View,
): Html {
  return chartPicture(
    { title, asOf, range, ...sourceOf(view) },
    [{ plot: barPlot({ ...bars, size: 'tall' }), lines: [{ name: legend, style: 1 }] }],
    themeOf(view),
  )
}

/** Source of a picture, and whether the platform is simulated. */
export function sourceOf({ site, identity }: View): Pick<Caption, 'source' | 'simulated'> {
  return { source: site.name, simulated: identity.simulated }
}

/** Cuts a text to a length, between words where possible, so that no number in it is cut. */
export function clipped(text: string, charsMax: number): string {
  const chars = Array.from(text)
  if (chars.length <= charsMax) return text
  const [words = chars.slice(0, charsMax - 1).join('')] =
    /^[^]*\S(?=\s)/.exec(chars.slice(0, charsMax).join('')) ?? []
  return `${words}…`
}

/** Theme of a picture, from the query. */
export function themeOf({ query }: View): Theme {
  return THEMES.find((theme) => theme === query.word('theme')) ?? 'auto'
}
