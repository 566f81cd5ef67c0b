/** Sizes and coverage of a TrueType font. */
export type FontMetrics = Readonly<{
  /** Whether the font has a glyph for a code point. */
  has(codePoint: number): boolean
  /** Advance width of a code point in units of an em; 0 without a glyph. */
  advance(codePoint: number): number
}>

/** Bytes of a row in the table directory, and of its header. */
const DIRECTORY_ROW = 16
const DIRECTORY_HEADER = 12
/** Format of a character map with groups of code points (OpenType, `cmap` format 12). */
const GROUPS_FORMAT = 12
const GROUP_BYTES = 12

/** Reads the metrics of a TrueType font (OpenType tables `cmap`, `head`, `hhea` and `hmtx`). Throws if one is missing. */
export function readFontMetrics(bytes: Uint8Array): FontMetrics {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const table = (tag: string): number => tableOffset(view, tag)
  const unitsPerEm = view.getUint16(table('head') + 18)
  const advances = view.getUint16(table('hhea') + 34)
  const metrics = table('hmtx')
  const glyphs = glyphsOf(view, table('cmap'))
  return {
    has: (codePoint) => glyphs.has(codePoint),
    advance(codePoint) {
      const glyph = glyphs.get(codePoint)
      if (glyph === undefined) return 0
      // Glyphs after the last advance all have that one.
      return view.getUint16(metrics + 4 * Math.min(glyph, advances - 1)) / unitsPerEm
    },
  }
}

function tableOffset(view: DataView, tag: string): number {
  const wanted = Buffer.from(tag).readUInt32BE()
  for (let row = 0; row < view.getUint16(4); row++) {
    const at = DIRECTORY_HEADER + DIRECTORY_ROW * row
    if (view.getUint32(at) === wanted) return view.getUint32(at + 8)
  }
  throw new Error(`the font has no table ${tag}`)
}

/** Glyph of each code point, from the first character map in format 12. */
function glyphsOf(view: DataView, cmap: number): ReadonlyMap<number, number> {
  const glyphs = new Map<number, number>()
  const offsets = Array.from({ length: view.getUint16(cmap + 2) }, (_, row) =>
    view.getUint32(cmap + 8 + 8 * row),
  )
  const found = offsets.map((offset) => cmap + offset).find((at) => view.getUint16(at) === GROUPS_FORMAT)
  if (found === undefined) throw new Error('the font has no character map in format 12')
  for (let group = 0; group < view.getUint32(found + 12); group++) {
    const at = found + 16 + GROUP_BYTES * group
    const [first, last, glyph] = [view.getUint32(at), view.getUint32(at + 4), view.getUint32(at + 8)]
    for (let codePoint = first; codePoint <= last; codePoint++) {
      glyphs.set(codePoint, glyph + codePoint - first)
    }
  }
  return glyphs
}
