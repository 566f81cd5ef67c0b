import { type Hash, isSame } from '../../tlog/hash.ts'
import { formatTilePath, hashesAt, parseTile, type Tile, TILE_WIDTH, widthAt } from '../../tlog/tile.ts'
import { findingOf } from '../reading/finding.ts'
import type { Source } from '../reading/source.ts'
import type { ReplayTree } from './replay-tree.ts'

/** Range of entry indexes, `[from, to)`, which contains the first entry that differs from the signed one. */
export type EntryRange = Readonly<{ from: number; to: number }>

/**
 * First difference between the tree of the published entries and the signed tree. Compares the served tiles from the
 * top down, one tile for each level. Null when tiles are missing or do not differ. Only a hint, because the tiles are
 * not proved.
 */
export async function firstDifference(
  source: Source,
  tree: ReplayTree,
  size: number,
): Promise<EntryRange | null> {
  let level = 0
  while (hashesAt(size, level + 1) > 0) level += 1
  let index = 0
  for (; ; level--) {
    const width = widthAt(size, level, index)
    const own = tree.hashesOf({ level, index, width })
    const first = index * TILE_WIDTH
    // Full tiles of leaves are not kept, so the search ends with this tile.
    if (own === undefined) return spanOf(level, first, width, size)
    const signed = await servedTile(source, { level, index, width })
    if (signed === undefined) return null
    const found = own.findIndex((hash, at) => !isSame(hash, signed[at] ?? new Uint8Array(0)))
    if (level === 0) return found < 0 ? null : spanOf(0, first + found, 1, size)
    // All full subtrees agree, so the difference is in the entries after them.
    index = first + (found < 0 ? width : found)
    if (widthAt(size, level - 1, index) === 0) return null
  }
}

/** Entries below some hashes of a level. */
function spanOf(level: number, first: number, width: number, size: number): EntryRange {
  const under = TILE_WIDTH ** level
  return { from: first * under, to: Math.min(size, (first + width) * under) }
}

/** Hashes of a served tile; undefined when no tile of that width is served. */
async function servedTile(source: Source, tile: Tile): Promise<readonly Hash[] | undefined> {
  try {
    const bytes = await source.read(`log/${formatTilePath(tile)}`)
    return bytes === undefined ? undefined : parseTile(bytes, tile.width)
  } catch (error) {
    findingOf(error)
    return undefined
  }
}
