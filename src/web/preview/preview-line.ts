import { type Html, html } from '../markup/html.ts'
import { TONES } from './preview-theme.ts'

type LineStyle = Readonly<{
  size: number
  bold?: boolean
  fill?: string
  end?: boolean
  struck?: boolean
  /** Regular text right after it. */
  tail?: Readonly<{ text: string; size: number; fill: string }>
}>

/** A line of text of a picture. `x` is its start, or its end with `end`; `y` is its baseline. */
export function drawLine(x: number, y: number, text: string, style: LineStyle): Html {
  const { size, bold = false, fill = TONES.ink, end = false, struck = false, tail } = style
  const after =
    tail === undefined
      ? null
      : html`<tspan font-size="${fixedPixels(tail.size)}" font-weight="400" fill="${tail.fill}"
          >${tail.text}</tspan
        >`
  return html`<text
    x="${fixedPixels(x)}"
    y="${fixedPixels(y)}"
    font-size="${fixedPixels(size)}"
    font-weight="${bold ? 700 : 400}"
    fill="${fill}"
    text-anchor="${end ? 'end' : 'start'}"
    text-decoration="${struck ? 'line-through' : 'none'}"
    >${text}${after}</text
  >`
}

/** Pixels with one decimal. */
export function fixedPixels(pixels: number): string {
  return String(Math.round(pixels * 10) / 10)
}
