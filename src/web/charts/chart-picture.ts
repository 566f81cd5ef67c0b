import { axisWidth, contentOf, DATES_HEIGHT, type Plot, PLOT_HEIGHTS } from './chart-plot.ts'
import { grouped } from '../markup/chart-scale.ts'
import type { AsOf } from '../../protocol/endpoints/resource-fields.ts'
import { colourOf } from '../markup/colours.ts'
import { type Html, html } from '../markup/html.ts'
import { momentText } from '../markup/moment-html.ts'
import type { ParsedQuery } from '../../serve/query/query.ts'
import type { Site } from '../markup/site.ts'
import type { Parameter } from '../../protocol/parameters.ts'

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
  /** Whether a part is pale because its bucket is unfinished. The foot then explains it. */
  growing?: boolean
}>

/** Parts of a view that a picture needs: its source, whether the platform is simulated, and the theme in the query. */
type PictureContext = Readonly<{ site: Site; identity: Readonly<{ simulated: boolean }>; query: ParsedQuery }>

/** Charts as a stand-alone SVG: title, state, plots with their names, and source. */
export function chartPicture(caption: Caption, plots: readonly Plot[], view: PictureContext): Html {
  let y = HEAD
  const drawn = plots.map((plot) => {
    const name =
      plot.title === caption.title
        ? null
        : html`<text class="ink" x="${SIDE}" y="${y + 14}">${plot.title}</text>`
    const top = name === null ? y : y + NAME
    y = top + PLOT_HEIGHTS[plot.size] + (plot.dated ? DATES_HEIGHT : 0) + AFTER
    const axis = axisWidth(plot)
    return html`${name}
      <svg
        x="${SIDE + axis}"
        y="${top}"
        width="${PLOT_WIDTH - axis}"
        height="${y - top - AFTER}"
        overflow="visible"
      >
        ${contentOf(plot, 'picture')}
      </svg>`
  })
  const description = plots.map((plot) => plot.description).join(' ')
  return framed(caption, { body: html`${drawn}`, height: y, description }, view)
}

/** Frame of a picture around its body. `height` includes the head. */
export function framed(
  { title, asOf, range, growing = false }: Caption,
  { body, height, description }: Readonly<{ body: Html; height: number; description: string }>,
  { site, identity, query }: PictureContext,
): Html {
  const whole = height + FOOT
  const theme = THEMES.find((one) => one === query.word('theme')) ?? 'auto'
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
      ${site.name}${identity.simulated ? ' · simulated platform, no real money' : ''} · Informational only.
    </text>
    ${growing ? html`<text text-anchor="end" x="${PICTURE_WIDTH - SIDE}" y="${whole - 14}">pale: not over yet</text>` : null}
  </svg>`
}

/** Shortens a text to a length, between words where possible, so that no number in it is cut. */
export function clipped(text: string, charsMax: number): string {
  const chars = Array.from(text)
  if (chars.length <= charsMax) return text
  const [words = chars.slice(0, charsMax - 1).join('')] =
    /^[^]*\S(?=\s)/.exec(chars.slice(0, charsMax).join('')) ?? []
  return `${words}…`
}

/** Themes of a picture: light, dark, or the one that the reader's system prefers. */
export const THEMES = ['light', 'dark', 'auto'] as const
type Theme = (typeof THEMES)[number]

/** Query parameter of pictures. The API does not have it. */
export const THEME: Parameter = {
  name: 'theme',
  form: { is: 'one-of', values: THEMES },
  absent: 'auto',
  meaning: 'Light or dark paper, or as the system of its reader prefers',
  example: 'dark',
}

/** Colours of the series in the order of their styles: of their marks, and of labels on the marks. */
const SERIES = [
  ['spent', 'spent-words'],
  ['paid', 'paid-words'],
  ['burned', 'burned-words'],
  ['price', 'price'],
] as const

/** Style rules inside a picture, because no style sheet applies to an SVG that is shown as an image. */
export function pictureStyle(theme: Theme): string {
  if (theme !== 'auto') return SHAPES + rules(theme)
  return `${SHAPES}${rules('light')}@media (prefers-color-scheme:dark){${rules('dark')}}`
}

// Plain colours, because renderers outside browsers do not support CSS variables.
function rules(theme: 'light' | 'dark'): string {
  const of = (name: string): string => colourOf(name, theme)
  return [
    `.bg{fill:${of('paper')}}`,
    `text,.soft{fill:${of('soft')}}`,
    `.name,.ink{fill:${of('ink')}}`,
    `.hair{stroke:${of('hair')}}`,
    `.axis{stroke:${of('ink')}}`,
    `.halo{stroke:${of('paper')}}`,
    ...SERIES.map(([marks, words], index) => {
      const style = index + 1
      return `.s${style}{stroke:${of(marks)}}.f${style}{fill:${of(marks)}}.t${style}{fill:${of(words)}}`
    }),
    ...HEAT_INKS.map((ink, step) => `.h${step}{fill:${of(`heat-${step}`)}}.i${step}{fill:${of(ink)}}`),
  ].join('')
}

/** Colours of the figures on each shade of a heat map. */
const HEAT_INKS = ['ink', 'ink', 'ink', 'ink-3', 'on-ink'] as const

const SHAPES = [
  'text{font:500 13px system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif;font-variant-numeric:tabular-nums}',
  '.name{font-size:22px;font-weight:700}.x{text-anchor:middle}',
  '.ink,.t1,.t2,.t3,.t4{font-weight:650}.soft{font-weight:500}',
  '.halo{paint-order:stroke;stroke-width:5px;stroke-linejoin:round}',
  '.s1,.s2,.s3,.s4{fill:none;stroke-width:2;stroke-linejoin:round;vector-effect:non-scaling-stroke}',
  '.area{opacity:.11}.pale{opacity:.45}',
].join('')
