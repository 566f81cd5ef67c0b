import { assert } from '../protocol/brand.ts'
import { type Hash, HASH_BYTES, hashIn, type TreeHasher } from './hash.ts'
import { type Tile, TILE_WIDTH, widthAt } from './tile.ts'

/**
 * Returns the bytes of a tile, exactly `width` hashes. The caller asks for the tile at its width in the tree: full, or
 * partial. The bytes must not change before the function that reads them returns.
 */
export type ReadTile = (tile: Tile) => Uint8Array

/** Leaves [from, to) of a subtree, as RFC 6962 splits a tree. */
export type LeafRange = Readonly<{ from: number; to: number }>

/** A full subtree: `width` leaves, a power of two, starting at leaf `index · width`. */
type Subtree = Readonly<{ width: number; index: number }>

/** Hashes under a subtree within one tile: `count` of them from `offset` on. */
type TileSlice = Readonly<{ level: number; index: number; offset: number; count: number }>

/** Largest power of two below a number above 1: where RFC 6962 splits a tree of that many leaves. */
export function splitOf(width: number): number {
  let split = 1
  while (split * 2 < width) split *= 2
  return split
}

/** Half of a number, rounded down. Sizes reach 2^53−1; the shift operators work on 32 bits only. */
export function half(value: number): number {
  return Math.floor(value / 2)
}

/** Full subtrees that make up a range, the largest first; none for an empty range. */
export function subtreesOf({ from, to }: LeafRange): readonly Subtree[] {
  const subtrees: Subtree[] = []
  for (let start = from; start < to;) {
    const rest = to - start
    const width = splitOf(rest + 1)
    subtrees.push({ width, index: start / width })
    start += width
  }
  return subtrees
}

/** Leaves of a full subtree. */
export function rangeOf({ width, index }: Subtree): LeafRange {
  return { from: width * index, to: width * (index + 1) }
}

/** Computes the roots of ranges of the tree of this size. Reads each tile of `tilesUnder` once. */
export function rangeRoots(
  hasher: TreeHasher,
  ranges: readonly LeafRange[],
  size: number,
  read: ReadTile,
): readonly Hash[] {
  const readOnce = onceForEachTile(read)
  return ranges.map((range) => {
    const roots = subtreesOf(range).map((subtree) => subtreeRoot(hasher, subtree, size, readOnce))
    return roots.length === 0 ? hasher.empty : roots.reduceRight((right, left) => hasher.node(left, right))
  })
}

/** Root of a full subtree of the tree of this size. Hashes at most 127 nodes, all from one tile. */
function subtreeRoot(hasher: TreeHasher, subtree: Subtree, size: number, read: ReadTile): Hash {
  const { offset, count, ...place } = placeOf(subtree)
  const tile = { ...place, width: widthAt(size, place.level, place.index) }
  const bytes = read(tile)
  const isWhole = bytes.length === tile.width * HASH_BYTES && offset + count <= tile.width
  assert(isWhole, `tile ${tile.level}/${tile.index} has ${tile.width} hashes and ${bytes.length} bytes`)
  // A copy, so that a caller who keeps one hash does not keep the whole tile in memory.
  return count === 1 ? new Uint8Array(hashIn(bytes, offset)) : rootIn(hasher, bytes, offset, count)
}

/** Tiles of the tree of this size that the roots of these ranges are computed from, each once. */
export function tilesUnder(ranges: readonly LeafRange[], size: number): readonly Tile[] {
  const tiles = new Map<string, Tile>()
  for (const subtree of ranges.flatMap(subtreesOf)) {
    const { level, index } = placeOf(subtree)
    tiles.set(`${level}/${index}`, { level, index, width: widthAt(size, level, index) })
  }
  return [...tiles.values()]
}

// Up to eight subtrees beside a path are in one tile.
function onceForEachTile(read: ReadTile): ReadTile {
  const found = new Map<string, Uint8Array>()
  return (tile) => {
    const place = `${tile.level}/${tile.index}`
    const bytes = found.get(place) ?? read(tile)
    found.set(place, bytes)
    return bytes
  }
}

function placeOf({ width, index }: Subtree): TileSlice {
  let level = 0
  let count = width
  for (; count >= TILE_WIDTH; count /= TILE_WIDTH) level += 1
  const first = index * count
  return { level, index: Math.floor(first / TILE_WIDTH), offset: first % TILE_WIDTH, count }
}

function rootIn(hasher: TreeHasher, tile: Uint8Array, offset: number, count: number): Hash {
  if (count === 1) return hashIn(tile, offset)
  const width = count / 2
  return hasher.node(rootIn(hasher, tile, offset, width), rootIn(hasher, tile, offset + width, width))
}
