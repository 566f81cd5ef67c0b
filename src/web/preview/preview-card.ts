import { type Html, html, xmlOf } from '../markup/html.ts'
import { drawChart, type FlowsChart } from './preview-chart.ts'
import { type PreviewTone, TONES } from './preview-theme.ts'
import { drawLine, fixedPixels } from './preview-line.ts'
import { drawableText, fitLine, PREVIEW_FONT, textWidth, wrapLines } from './preview-font.ts'

/** Width and height of a link preview in pixels, as social networks ask for. */
export const PREVIEW_WIDTH = 1200
export const PREVIEW_HEIGHT = 630

/** A part of a bar: its share of the whole from 0 to 1, its colour, word and amount. */
export type PreviewSegment = Readonly<{ share: number; tone: PreviewTone; word: string; amount: string }>

/** Part below the sentence: up to four figures, a bar in segments, a chart, or facts by name. */
export type PreviewPart =
  | Readonly<{ is: 'figures'; figures: readonly (readonly [label: string, figure: string])[] }>
  | Readonly<{ is: 'bar'; segments: readonly PreviewSegment[] }>
  | Readonly<{ is: 'chart'; chart: FlowsChart }>
  | Readonly<{ is: 'facts'; facts: readonly (readonly [name: string, value: string])[] }>
  | Readonly<{ is: 'nothing' }>

/** Words and figures of a link preview. All of them come from answers of the API. */
export type PreviewCard = Readonly<{
  /** Line above the headline, such as the title of a contest. */
  above: string | null
  headline: string
  /** Small end of the headline: decimals and unit of an exact amount. */
  tail?: string
  /** Whether the headline is struck through, because a later event corrected it. */
  struck?: boolean
  sentence: string | null
  /** Number in the corner, such as that of an event. */
  corner?: string
  part: PreviewPart
  /** State that the picture shows, such as a moment. */
  state: string
}>

/** Parts that all previews of a site have in common. */
type PreviewSite = Readonly<{ name: string; url: string; simulated: boolean }>

/** Renderer and font; part of each picture, so that their change changes its ETag. */
const RENDERER = 'resvg-wasm 2.6.2, Source Serif 4.004'

const EDGE = 72
const INNER = PREVIEW_WIDTH - 2 * EDGE
const NAME_BASELINE = 70
const DOUBLE_RULE = [97, 103] as const
const STRIP_HEIGHT = 42
const HEADLINE_SIZES = [96, 84, 72, 62, 54, 46]
const HEADLINE_LINES = 2
/** Size of the small end of a headline, as a part of the headline's. */
const TAIL_PART = 0.42
const SENTENCE_SIZE = 33
const ABOVE_SIZE = 34
const FOOTER_BASELINE = 600
/** Bottom of the part below the sentence. */
const PART_BOTTOM = 552
const FIGURES_HEIGHT = 104
const CHART_HEIGHT = 190
const FACT_HEIGHT = 44

/** The SVG of a link preview. Its text is in Source Serif 4, so another renderer shows it in another font. */
export function previewSvg(card: PreviewCard, site: PreviewSite): string {
  const name = drawableText(site.name) ?? hostOf(site.url)
  const top = DOUBLE_RULE[1] + (site.simulated ? STRIP_HEIGHT : 0)
  const partTop = PART_BOTTOM - heightOf(card.part)
  const { paper, ink, rule } = TONES
  const picture = html`<svg
    xmlns="http://www.w3.org/2000/svg"
    width="${PREVIEW_WIDTH}"
    height="${PREVIEW_HEIGHT}"
    viewBox="0 0 ${PREVIEW_WIDTH} ${PREVIEW_HEIGHT}"
    font-family="${PREVIEW_FONT}"
  >
    <title>
      ${[card.above, card.headline + (card.tail ?? ''), card.sentence].filter((text) => text !== null).join('. ')}
    </title>
    <rect width="100%" height="100%" fill="${paper}" />
    ${drawLine(EDGE, NAME_BASELINE, fitLine(name, INNER / 2, 38, 'bold'), { size: 38, bold: true })}
    ${
      card.corner === undefined
        ? null
        : drawLine(PREVIEW_WIDTH - EDGE, NAME_BASELINE, card.corner, {
            size: 34,
            bold: true,
            fill: rule,
            end: true,
          })
    }
    ${DOUBLE_RULE.map((y) => html`<path d="M0 ${y}H${PREVIEW_WIDTH}" stroke="${ink}" stroke-width="2.5" />`)}
    ${site.simulated ? strip() : null} ${drawWords(card, top, partTop)} ${drawPart(card.part, partTop)}
    ${drawLine(EDGE, FOOTER_BASELINE, card.state, { size: 23, fill: TONES.soft })}
    ${drawLine(PREVIEW_WIDTH - EDGE, FOOTER_BASELINE, hostOf(site.url), { size: 23, fill: TONES.soft, end: true })}
  </svg>`
  // The name of the renderer makes pictures of another one other pictures.
  return `${xmlOf(picture)}<!-- ${RENDERER} -->`
}

function hostOf(url: string): string {
  return URL.parse(url)?.host ?? ''
}

/** Strip below the masthead that names a simulated platform, as on every page. */
function strip(): Html {
  const y = DOUBLE_RULE[1] + 1
  return html`<rect y="${y}" width="100%" height="${STRIP_HEIGHT}" fill="${TONES.wash}" />
    ${drawLine(EDGE, y + 29, 'This platform is simulated. No real money is involved.', { size: 22, fill: TONES.soft })}`
}

function heightOf(part: PreviewPart): number {
  switch (part.is) {
    case 'figures':
      return FIGURES_HEIGHT
    case 'bar':
      return barHeight(part.segments)
    case 'chart':
      return CHART_HEIGHT
    case 'facts':
      return part.facts.length * FACT_HEIGHT
    case 'nothing':
      return 0
  }
}

/** The line above, the headline in the largest size that fits, and the sentence, between two heights. */
function drawWords(
  { above, headline, tail, struck, sentence }: PreviewCard,
  top: number,
  bottom: number,
): Html {
  const small = sentence === null ? [] : sentenceLines(sentence)
  const aboveHeight = above === null ? 0 : ABOVE_SIZE * 1.35
  const others = aboveHeight + small.length * SENTENCE_SIZE * 1.28 + (small.length > 0 ? 14 : 0)
  const tailRoom = (size: number): number =>
    tail === undefined ? 0 : textWidth(tail, size * TAIL_PART, 'regular')
  const fits = HEADLINE_SIZES.flatMap((size) => {
    const lines = wrapLines(headline, HEADLINE_LINES, INNER - tailRoom(size), size, 'bold')
    const room = bottom - top - 40 - others
    return lines === null || lines.length * size * 1.08 > room ? [] : [{ size, lines }]
  })
  const least = HEADLINE_SIZES.at(-1) ?? 0
  const { size, lines } = fits[0] ?? { size: least, lines: [fitLine(headline, INNER, least, 'bold')] }
  const free = bottom - top - others - lines.length * size * 1.08
  let y = top + Math.max(20, Math.min(free * 0.45, 70))
  const parts: Html[] = []
  if (above !== null) {
    y += ABOVE_SIZE
    parts.push(drawLine(EDGE, y, fitLine(above, INNER, ABOVE_SIZE, 'bold'), { size: ABOVE_SIZE, bold: true }))
    y += ABOVE_SIZE * 0.35
  }
  for (const [index, text] of lines.entries()) {
    y += size * (index === 0 ? 0.94 : 1.08)
    const last = index === lines.length - 1
    const end =
      last && tail !== undefined ? { tail: { text: tail, size: size * TAIL_PART, fill: TONES.soft } } : {}
    parts.push(drawLine(EDGE, y, text, { size, bold: true, struck: struck === true, ...end }))
  }
  y += size * 0.14 + 14
  for (const text of small) {
    y += SENTENCE_SIZE
    parts.push(drawLine(EDGE, y, text, { size: SENTENCE_SIZE, fill: TONES.soft }))
    y += SENTENCE_SIZE * 0.28
  }
  return html`${parts}`
}

/** Parts of the width at which a sentence may break, so that its two lines are about as long. */
const BREAKS = [0.6, 0.7, 0.8, 0.9, 1]

/** One line, or two of about equal length, or the start of a longer sentence. */
function sentenceLines(sentence: string): readonly string[] {
  const wrap = (lines: number, part: number): readonly string[] | null =>
    wrapLines(sentence, lines, part * INNER, SENTENCE_SIZE, 'regular')
  const [two] = BREAKS.flatMap((part) => [wrap(2, part)]).filter((lines) => lines !== null)
  return wrap(1, 1) ?? two ?? [fitLine(sentence, INNER, SENTENCE_SIZE, 'regular')]
}

function drawPart(part: PreviewPart, top: number): Html | null {
  switch (part.is) {
    case 'figures':
      return drawFigures(part.figures, top)
    case 'bar':
      return drawBar(part.segments, top)
    case 'chart':
      return drawChart(part.chart, { left: EDGE, top, width: INNER, height: CHART_HEIGHT })
    case 'facts':
      return drawFacts(part.facts, top)
    case 'nothing':
      return null
  }
}

function drawFigures(figures: Extract<PreviewPart, { is: 'figures' }>['figures'], top: number): Html {
  const width = INNER / figures.length
  const room = width - 34
  const size =
    [40, 36, 32, 28].find((one) => figures.every(([, figure]) => textWidth(figure, one, 'bold') <= room)) ??
    24
  return html`<path d="M${EDGE} ${top}h${INNER}" stroke="${TONES.ink}" stroke-width="2" /> ${figures.map(
      ([label, figure], index) => {
        const x = EDGE + index * width + (index === 0 ? 0 : 22)
        const hair = html`<path
          d="M${x - 22} ${top + 12}V${PART_BOTTOM}"
          stroke="${TONES.hair}"
          stroke-width="2"
        />`
        return html`${index === 0 ? null : hair}
        ${drawLine(x, top + 40, fitLine(label, room, 23, 'regular'), { size: 23, fill: TONES.soft })}
        ${drawLine(x, top + 86, figure, { size, bold: true })}`
      },
    )}`
}

/** Least width of a segment, so that none is invisible. */
const SEGMENT_LEAST = 6
const SEGMENT_GAP = 4
const BAR_HEIGHT = 30

const SEGMENT_WORD_SIZE = 26
/** Height of a row of words below a bar. */
const SEGMENT_ROW = 38
/** Space around the words of a segment: the square before them, and the gap to the next segment. */
const SEGMENT_SPACE = 36 + 36

/** A segment with the place of its words: pixels from the left edge, and the row. */
type PlacedSegment = Readonly<{ segment: PreviewSegment; x: number; row: number }>

/** Places the words of segments in as many rows as they need. */
function placeWords(segments: readonly PreviewSegment[]): readonly PlacedSegment[] {
  let [x, row] = [0, 0]
  return segments.map((segment) => {
    const { word, amount } = segment
    const width =
      textWidth(word, SEGMENT_WORD_SIZE, 'regular') +
      textWidth(amount, SEGMENT_WORD_SIZE, 'bold') +
      SEGMENT_SPACE
    if (x > 0 && x + width > INNER) [x, row] = [0, row + 1]
    const placed = { segment, x, row }
    x += width
    return placed
  })
}

function barHeight(segments: readonly PreviewSegment[]): number {
  return BAR_HEIGHT + 24 + SEGMENT_ROW * (1 + (placeWords(segments).at(-1)?.row ?? 0))
}

function drawBar(segments: readonly PreviewSegment[], top: number): Html {
  const room = INNER - segments.length * (SEGMENT_LEAST + SEGMENT_GAP)
  const size = SEGMENT_WORD_SIZE
  let x = EDGE
  return html`${placeWords(segments).map(({ segment: { share, tone, word, amount }, ...at }) => {
    const width = SEGMENT_LEAST + share * room
    const rect = html`<rect
      x="${fixedPixels(x)}"
      y="${top}"
      width="${fixedPixels(width)}"
      height="${BAR_HEIGHT}"
      rx="3"
      fill="${TONES[tone]}"
    />`
    x += width + SEGMENT_GAP
    const left = EDGE + at.x
    const baseline = top + BAR_HEIGHT + 46 + at.row * SEGMENT_ROW
    return html`${rect}<rect
        x="${fixedPixels(left)}"
        y="${fixedPixels(baseline - 18)}"
        width="18"
        height="18"
        rx="3"
        fill="${TONES[tone]}"
      />
      ${drawLine(left + 28, baseline, word, { size })}
      ${drawLine(left + 36 + textWidth(word, size, 'regular'), baseline, amount, { size, bold: true })}`
  })}`
}

function drawFacts(facts: Extract<PreviewPart, { is: 'facts' }>['facts'], top: number): Html {
  return html`${facts.map(([name, value], index) => {
    const y = top + index * FACT_HEIGHT
    return html`<path d="M${EDGE} ${y}h${INNER}" stroke="${TONES.hair}" stroke-width="2" />
      ${drawLine(EDGE, y + 31, name, { size: 25, fill: TONES.soft })}
      ${drawLine(EDGE + 220, y + 31, fitLine(value, INNER - 220, 25, 'regular'), { size: 25 })}`
  })}`
}
