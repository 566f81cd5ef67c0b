import { barPlot, type Bars } from './chart-bars.ts'
import { contentOf, DATES_HEIGHT, type Plot, PLOT_HEIGHTS } from './chart-plot.ts'
import { pictureStyle, type Theme, THEMES } from '../markup/chart-theme.ts'
import { grouped } from '../markup/chart-scale.ts'
import type { AsOf } from '../../protocol/endpoints/resource-fields.ts'
import { type Html, html } from '../markup/html.ts'
import { momentText } from '../markup/moment-html.ts'
import type { View } from '../frame/page.ts'

/** Width of a picture, and its margins. */
const PICTURE_WIDTH = 900
const SIDE = 24
const HEAD = 72
/** Height of a plot's name, and of the space after a plot. */
const NAME = 26
const AFTER = 14
const FOOT = 28
/** Most characters of the drawn title. The `title` element has the whole text. */
const NAME_CHARS_MAX = 70

/** Width of the plots of a picture. */
const PLOT_WIDTH: number = PICTURE_WIDTH - 2 * SIDE

/** Texts of a picture, which may be shown anywhere. */
type Caption = Readonly<{
  title: string
  /** Null when the answer has none. */
  asOf: AsOf | null
  range: string
  source: string
  simulated: boolean
  /** Whether a part is pale because it is not over. The foot then explains it. */
  growing?: boolean
}>

/** Charts as a stand-alone SVG: title, state, plots with their names, and source. */
export function chartPicture(caption: Caption, plots: readonly Plot[], theme: Theme): Html {
  let y = HEAD
  const drawn = plots.map((plot) => {
    const name =
      plot.title === caption.title
        ? null
        : html`<text class="ink" x="${SIDE}" y="${y + 14}">${plot.title}</text>`
    const top = name === null ? y : y + NAME
    y = top + PLOT_HEIGHTS[plot.size] + (plot.dated ? DATES_HEIGHT : 0) + AFTER
    return html`${name}
      <svg x="${SIDE}" y="${top}" width="${PLOT_WIDTH}" height="${y - top - AFTER}" overflow="visible">
        ${contentOf(plot, 'picture')}
      </svg>`
  })
  const description = plots.map((plot) => plot.description).join(' ')
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
      : `; ${asOf.at === null ? 'no event yet' : `state at ${momentText(asOf.at)}, event ${grouped(String(asOf.seq))}`}`
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
    <text class="name" x="${SIDE}" y="36">${clipped(title, NAME_CHARS_MAX)}</text>
    <text x="${SIDE}" y="60">${range}${state}</text>
    ${body}
    <text x="${SIDE}" y="${whole - 14}">
      ${source}${simulated ? ' · simulated platform, no real money' : ''} · Informational only.
    </text>
    ${growing ? html`<text text-anchor="end" x="${PICTURE_WIDTH - SIDE}" y="${whole - 14}">pale: not over yet</text>` : null}
  </svg>`
}

/** Bars as a stand-alone SVG. */
export function barPicture(
  bars: Bars,
  { title, asOf, range }: Readonly<{ title: string; asOf: AsOf | null; range: string }>,
  view: View,
): Html {
  return chartPicture(
    { title, asOf, range, ...sourceOf(view) },
    [barPlot({ ...bars, size: 'tall' })],
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
