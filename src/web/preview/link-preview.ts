import { colourOf } from '../markup/colours.ts'
import { type Html, html, xmlOf } from '../markup/html.ts'
import { dayWords } from '../markup/time-words.ts'
import { drawableText, fitText, PREVIEW_FONT } from './preview-font.ts'

/**
 * Link previews: the pictures that messengers and social networks show beside a link. All have one layout: a headline,
 * a figure and a date, as plain text from answers of the API. `previewSvg` makes the SVG of a picture in the thread of
 * its answer, and `rasterise.ts` draws it as PNG in another thread. Begin reading here.
 */
export type LinkPreview = Readonly<{ headline: string; figure: string; date: string }>

/** Width and height of a link preview in pixels, as recommended by social networks. */
export const PREVIEW_WIDTH = 1200
export const PREVIEW_HEIGHT = 630

/** Renderer and font. They are part of each picture, so that a change of theirs changes its ETag. */
const RENDERER = 'resvg-wasm 2.6.2, Source Serif 4.004'

const PAPER = colourOf('paper', 'light')
const WASH = colourOf('wash', 'light')
const INK = colourOf('ink', 'light')
const SOFT = colourOf('soft', 'light')
const EDGE = 72
const INNER = PREVIEW_WIDTH - 2 * EDGE
const DOUBLE_RULE = [97, 103]
const NAME_SIZE = 38
const HEADLINE_SIZES = [50, 44, 38]
const FIGURE_SIZES = [104, 88, 74, 62, 50, 40]
const HEADLINE_TOP = 180
const LINE_HEIGHT = 1.12

type PreviewSite = Readonly<{ name: string; url: string; simulated: boolean }>

/** SVG of a link preview. Its text is in Source Serif 4, so another renderer shows it in another font. */
export function previewSvg(
  { headline, figure, date }: LinkPreview,
  { name, url, simulated }: PreviewSite,
): string {
  const host = URL.parse(url)?.host ?? ''
  const [mark] = fitText(drawableText(name) ?? host, INNER, [NAME_SIZE]).lines
  const top = fitText(headline, INNER, HEADLINE_SIZES)
  const below = fitText(figure, INNER, FIGURE_SIZES)
  const figureTop = HEADLINE_TOP + top.lines.length * top.size * LINE_HEIGHT + 30
  const picture = html`<svg
    xmlns="http://www.w3.org/2000/svg"
    width="${PREVIEW_WIDTH}"
    height="${PREVIEW_HEIGHT}"
    viewBox="0 0 ${PREVIEW_WIDTH} ${PREVIEW_HEIGHT}"
    font-family="${PREVIEW_FONT}"
    fill="${INK}"
  >
    <title>${headline}. ${figure}</title>
    <rect width="100%" height="100%" fill="${PAPER}" />
    <text x="${EDGE}" y="70" font-size="${NAME_SIZE}" font-weight="700">${mark ?? ''}</text>
    ${DOUBLE_RULE.map((y) => html`<path d="M0 ${y}H${PREVIEW_WIDTH}" stroke="${INK}" stroke-width="2.5" />`)}
    ${simulated ? SIMULATED : null} ${linesOf(top, HEADLINE_TOP)} ${linesOf(below, figureTop)}
    <text x="${EDGE}" y="588" font-size="30" fill="${SOFT}">${date}</text>
    <text x="${PREVIEW_WIDTH - EDGE}" y="588" font-size="30" fill="${SOFT}" text-anchor="end">${host}</text>
  </svg>`
  // The renderer's name in the picture gives each renderer its own ETags.
  return `${xmlOf(picture)}<!-- ${RENDERER} -->`
}

/** Bold lines below a height. */
function linesOf({ size, lines }: ReturnType<typeof fitText>, top: number): readonly Html[] {
  return lines.map((line, index) => {
    const y = Math.round(top + size * (0.9 + index * LINE_HEIGHT))
    return html`<text x="${EDGE}" y="${y}" font-size="${size}" font-weight="700">${line}</text>`
  })
}

/** Strip below the masthead that names a simulated platform, as on every page. */
const SIMULATED = html`<rect y="104" width="100%" height="42" fill="${WASH}" />
  <text x="${EDGE}" y="133" font-size="22" fill="${SOFT}">
    This platform is simulated. No real money is involved.
  </text>`

/** Date of a link preview, cut to the minute: `22 Nov 2026, 11:50 UTC`. Never relative, because others cache it. */
export function previewDate(at: string): string {
  return `${dayWords('date', Date.parse(at))}, ${at.slice(11, 16)} UTC`
}
