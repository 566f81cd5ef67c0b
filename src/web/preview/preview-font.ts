import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Font of link previews: Source Serif 4.004, in `src/web/fonts` with its licence (OFL 1.1). */
export const PREVIEW_FONT = 'Source Serif 4'

/** A file of the font. Both have the same characters. */
export function fontFile(weight: 'bold' | 'regular'): Uint8Array {
  return readFileSync(join(import.meta.dirname, '../fonts', `source-serif-4-${weight}.ttf`))
}

/** Invisible characters, which nothing draws. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Variation_Selector}]/u
/** Emoji and other symbols, which are removed when the font lacks them. */
const SYMBOL = /[\p{So}\p{Extended_Pictographic}\p{Emoji_Modifier}]/u

/**
 * Text as the font draws it, without emoji and invisible characters. Null when the font lacks a letter or nothing is
 * left, so that no picture has empty boxes.
 */
export function drawableText(text: string): string | null {
  let drawn = ''
  for (const letter of text.normalize('NFC').replaceAll(/\s/gu, ' ')) {
    if (INVISIBLE.test(letter)) continue
    if (advances().has(letter.codePointAt(0) ?? 0)) drawn += letter
    else if (!SYMBOL.test(letter)) return null
  }
  const trimmed = drawn.replaceAll(/ +/g, ' ').trim()
  return /[\p{L}\p{N}]/u.test(trimmed) ? trimmed : null
}

/** Symbol of a token, or a word instead when the font lacks it. */
export function drawableToken({ token }: Readonly<{ token: string }>): string {
  return drawableText(token) ?? 'tokens'
}

/** Lines of a bold text, with their size in pixels. */
type FittedText = Readonly<{ size: number; lines: readonly string[] }>

/**
 * Bold text in the largest of `sizes` in which it has at most two lines of this width. It is cut in the smallest size.
 */
export function fitText(text: string, width: number, sizes: readonly number[]): FittedText {
  const least = Math.min(...sizes)
  const letters = Array.from(text)
  for (const size of sizes) {
    const lines = wrap(text, width, size)
    if (lines !== null) return { size, lines }
  }
  while (letters.length > 0) {
    const lines = wrap(`${letters.join('').trimEnd()}…`, width, least)
    if (lines !== null) return { size: least, lines }
    letters.pop()
  }
  return { size: least, lines: [] }
}

/** At most two lines of a text, broken between words; null if it needs more. */
function wrap(text: string, width: number, size: number): readonly string[] | null {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const longer = lines.length === 0 ? word : `${lines.at(-1)} ${word}`
    if (lines.length > 0 && boldWidth(longer, size) <= width) lines[lines.length - 1] = longer
    else lines.push(word)
  }
  return lines.length <= 2 && lines.every((line) => boldWidth(line, size) <= width) ? lines : null
}

/** Width of a bold text in pixels, without kerning. */
function boldWidth(text: string, size: number): number {
  let ems = 0
  for (const letter of text) ems += advances().get(letter.codePointAt(0) ?? 0) ?? 0
  return ems * size
}

let known: ReadonlyMap<number, number> | undefined

/** Advance width of each code point of the bold font in units of an em. */
function advances(): ReadonlyMap<number, number> {
  known ??= readAdvances(fontFile('bold'))
  return known
}

/** Bytes of a row in the table directory of a TrueType font, and of its header. */
const DIRECTORY_ROW = 16
const DIRECTORY_HEADER = 12
/** Format of a character map with groups of code points (OpenType, `cmap` format 12). */
const GROUPS_FORMAT = 12
const GROUP_BYTES = 12

/** Advance width of each code point of a TrueType font (OpenType tables `cmap`, `head`, `hhea` and `hmtx`). */
function readAdvances(bytes: Uint8Array): ReadonlyMap<number, number> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const table = (tag: string): number => {
    const wanted = Buffer.from(tag).readUInt32BE()
    for (
      let at = DIRECTORY_HEADER;
      at < DIRECTORY_HEADER + view.getUint16(4) * DIRECTORY_ROW;
      at += DIRECTORY_ROW
    ) {
      if (view.getUint32(at) === wanted) return view.getUint32(at + 8)
    }
    throw new Error(`the font has no table ${tag}`)
  }
  const [cmap, metrics] = [table('cmap'), table('hmtx')]
  const unitsPerEm = view.getUint16(table('head') + 18)
  const advanceCount = view.getUint16(table('hhea') + 34)
  const maps = Array.from(
    { length: view.getUint16(cmap + 2) },
    (_, row) => cmap + view.getUint32(cmap + 8 + 8 * row),
  )
  const groups = maps.find((at) => view.getUint16(at) === GROUPS_FORMAT)
  if (groups === undefined) throw new Error('the font has no character map in format 12')
  const widths = new Map<number, number>()
  for (let group = 0; group < view.getUint32(groups + 12); group++) {
    const at = groups + 16 + GROUP_BYTES * group
    const [first, last, glyph] = [view.getUint32(at), view.getUint32(at + 4), view.getUint32(at + 8)]
    for (let point = first; point <= last; point++) {
      // Glyphs after the last advance all have that one.
      const row = Math.min(glyph + point - first, advanceCount - 1)
      widths.set(point, view.getUint16(metrics + 4 * row) / unitsPerEm)
    }
  }
  return widths
}
