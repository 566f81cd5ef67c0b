import type { Hash } from '../../tlog/hash.ts'
import { isSame } from '../../tlog/hash.ts'
import type { Tile } from '../../tlog/tile.ts'
import { formatTilePath, hashesAt, parseTile, TILE_WIDTH, widthAt } from '../../tlog/tile.ts'
import { findingOf } from '../reading/finding.ts'
import type { Source } from '../reading/source.ts'
import type { ReplayTree } from './replay-tree.ts'

/** The entries, from the index `from` to before `to`, among which the first one lies that was signed otherwise. */
export type EntryRange = Readonly<{ from: number; to: number }>

/**
 * Where a tree over published entries first differs from the one that was signed, by the signed one's tiles: from the
 * top down, a tile a level. Null where the tiles are not to be had, or differ nowhere. Only a hint: tiles are not proved.
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
    // Of full tiles of leaves nothing is kept: the difference is somewhere under this one.
    if (own === undefined) return spanOf(level, first, width, size)
    const signed = await servedTile(source, { level, index, width })
    if (signed === undefined) return null
    const found = own.findIndex((hash, at) => !isSame(hash, signed[at] ?? new Uint8Array(0)))
    if (level === 0) return found < 0 ? null : spanOf(0, first + found, 1, size)
    // Where no full subtree differs, what is not under one yet does.
    index = first + (found < 0 ? width : found)
    if (widthAt(size, level - 1, index) === 0) return null
  }
}

/** Hashes of a level as the entries that are under them. */
function spanOf(level: number, first: number, width: number, size: number): EntryRange {
  const under = TILE_WIDTH ** level
  return { from: first * under, to: Math.min(size, (first + width) * under) }
}

/** The hashes of a tile that is served; undefined where there is none of that width. */
async function servedTile(source: Source, tile: Tile): Promise<readonly Hash[] | undefined> {
  try {
    const bytes = await source.read(`log/${formatTilePath(tile)}`)
    return bytes === undefined ? undefined : parseTile(bytes, tile.width)
  } catch (error) {
    findingOf(error)
    return undefined
  }
}
