import { hashesAt, type Tile, widthAt } from '../../src/tlog/tile.ts'
import { parseUtf8 } from '../../src/tlog/note.ts'

const LENGTH_BYTES = 2

/** Lines of an entry; undefined when it is no UTF-8 or has more than two. */
export function parseEntry(
  bytes: Uint8Array,
): Readonly<{ line: string; details: string | null }> | undefined {
  const text = parseUtf8(bytes)
  const [line = '', details = null, ...more] = text?.split('\n') ?? []
  return text === undefined || more.length > 0 ? undefined : { line, details }
}

/** Entries of a bundle of this width; undefined when it has fewer, more, or further bytes. */
export function parseEntries(bytes: Uint8Array, width: number): readonly Uint8Array[] | undefined {
  const entries: Uint8Array[] = []
  let at = 0
  while (entries.length < width) {
    const [high, low] = [bytes[at], bytes[at + 1]]
    if (high === undefined || low === undefined) return undefined
    const end = at + LENGTH_BYTES + high * 256 + low
    if (end > bytes.length) return undefined
    entries.push(bytes.subarray(at + LENGTH_BYTES, end))
    at = end
  }
  return at === bytes.length ? entries : undefined
}

/** Every tile of the tree of this size, by level and index. The last of a level may be partial. */
export function* tilesOf(size: number): Generator<Tile> {
  for (let level = 0; hashesAt(size, level) > 0; level++) {
    for (let index = 0; widthAt(size, level, index) > 0; index++) {
      yield { level, index, width: widthAt(size, level, index) }
    }
  }
}
