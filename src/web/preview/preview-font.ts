import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type FontMetrics, readFontMetrics } from './font-metrics.ts'

/** Font of link previews: Source Serif 4.004, in `fonts` with its licence (OFL 1.1). */
export const PREVIEW_FONT = 'Source Serif 4'

type Weight = 'bold' | 'regular'

/** The two files of the font. */
export function previewFonts(): Readonly<Record<Weight, Uint8Array>> {
  return { bold: fileOf('bold'), regular: fileOf('regular') }
}

function fileOf(weight: Weight): Uint8Array {
  return readFileSync(join(import.meta.dirname, 'fonts', `source-serif-4-${weight}.ttf`))
}

const metrics = new Map<Weight, FontMetrics>()

function metricsOf(weight: Weight): FontMetrics {
  const known = metrics.get(weight) ?? readFontMetrics(fileOf(weight))
  metrics.set(weight, known)
  return known
}

/** Width of a text in pixels, without kerning. */
export function textWidth(text: string, size: number, weight: Weight): number {
  const { advance } = metricsOf(weight)
  let ems = 0
  for (const letter of text) ems += advance(letter.codePointAt(0) ?? 0)
  return ems * size
}

/** Invisible characters, which nothing draws. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Variation_Selector}]/u
/** Emoji and other symbols, which a text loses when the font lacks them. */
const SYMBOL = /[\p{So}\p{Extended_Pictographic}\p{Emoji_Modifier}]/u

/**
 * A text as the font draws it: without emoji and invisible characters. Null when the font lacks a letter or nothing is
 * left, so that no picture has empty boxes.
 */
export function drawableText(text: string): string | null {
  const { has } = metricsOf('bold')
  let drawn = ''
  for (const letter of text.normalize('NFC').replaceAll(/\s/gu, ' ')) {
    if (INVISIBLE.test(letter)) continue
    if (has(letter.codePointAt(0) ?? 0)) drawn += letter
    else if (!SYMBOL.test(letter)) return null
  }
  const trimmed = drawn.replaceAll(/ +/g, ' ').trim()
  return /[\p{L}\p{N}]/u.test(trimmed) ? trimmed : null
}

/** The symbol of a token, or a word in its place when the font lacks it. */
export function drawableToken({ token }: Readonly<{ token: string }>): string {
  return drawableText(token) ?? 'tokens'
}

/** Text cut to a width, at a word if possible, with an ellipsis. */
export function fitLine(text: string, width: number, size: number, weight: Weight): string {
  if (textWidth(text, size, weight) <= width) return text
  const letters = Array.from(text)
  while (letters.length > 1 && textWidth(`${letters.join('')}…`, size, weight) > width) letters.pop()
  const part = letters.join('')
  const [words = part] = /^.*\S(?= )/.exec(part) ?? []
  return `${words.length * 2 > part.length ? words : part}…`
}

/** Lines of a text, broken between words; null if it needs more than `linesMax` or a word is wider than a line. */
export function wrapLines(
  text: string,
  linesMax: number,
  width: number,
  size: number,
  weight: Weight,
): readonly string[] | null {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    const longer = last === undefined ? word : `${last} ${word}`
    if (last !== undefined && textWidth(longer, size, weight) <= width) lines[lines.length - 1] = longer
    else if (textWidth(word, size, weight) > width) return null
    else lines.push(word)
  }
  return lines.length <= linesMax ? lines : null
}
