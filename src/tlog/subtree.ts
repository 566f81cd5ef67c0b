import { assert } from '../protocol/brand.ts'
import type { Hash, TreeHasher } from './hash.ts'
import { HASH_BYTES, hashIn } from './hash.ts'
import type { Tile } from './tile.ts'
import { TILE_WIDTH, widthAt } from './tile.ts'

/**
 * The bytes of a tile, exactly `width` hashes. What is asked for is what the tree of the size in question has:
 * the full tile, or the partial one of just that width. The bytes stay as they are until the call that reads is over.
 */
export type ReadTile = (tile: Tile) => Uint8Array

/** The leaves [from, to): a subtree as RFC 6962 splits a tree, so `from` is a multiple of what it needs to be. */
export type LeafRange = Readonly<{ from: number; to: number }>

/** A full subtree: `width` leaves, a power of two, from leaf `index · width` on. */
export type Subtree = Readonly<{ width: number; index: number }>

/** Where the hashes under a subtree stand: `count` of them from `offset` on in one tile. */
type Place = Readonly<{ level: number; index: number; offset: number; count: number }>

/** The largest power of two below a number above 1: where RFC 6962 splits a tree. */
export function splitOf(width: number): number {
  let split = 1
  while (split * 2 < width) split *= 2
  return split
}

/** The full subtrees that make up a range, the largest first; none for an empty one. */
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

/** The leaves of a full subtree. */
export function rangeOf({ width, index }: Subtree): LeafRange {
  return { from: width * index, to: width * (index + 1) }
}

/** The roots of ranges of the tree of this size; each tile is read once, and `tilesUnder` says which they are. */
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

/** The root of a full subtree of the tree of this size: at most 127 nodes are hashed, over one tile. */
function subtreeRoot(hasher: TreeHasher, subtree: Subtree, size: number, read: ReadTile): Hash {
  const { offset, count, ...place } = placeOf(subtree)
  const tile = { ...place, width: widthAt(size, place.level, place.index) }
  const bytes = read(tile)
  const isWhole = bytes.length === tile.width * HASH_BYTES && offset + count <= tile.width
  assert(isWhole, `tile ${tile.level}/${tile.index} has ${tile.width} hashes and ${bytes.length} bytes`)
  // A copy of a single hash: whoever keeps it does not keep the whole tile.
  return count === 1 ? new Uint8Array(hashIn(bytes, offset)) : rootIn(hasher, bytes, offset, count)
}

/** The tiles of the tree of this size that the roots of these ranges are made from, each once. */
export function tilesUnder(ranges: readonly LeafRange[], size: number): readonly Tile[] {
  const tiles = new Map<string, Tile>()
  for (const subtree of ranges.flatMap(subtreesOf)) {
    const { level, index } = placeOf(subtree)
    tiles.set(`${level}/${index}`, { level, index, width: widthAt(size, level, index) })
  }
  return [...tiles.values()]
}

/** Eight subtrees beside a path stand in one tile: a reader is asked for it once. */
function onceForEachTile(read: ReadTile): ReadTile {
  const found = new Map<string, Uint8Array>()
  return (tile) => {
    const place = `${tile.level}/${tile.index}`
    const bytes = found.get(place) ?? read(tile)
    found.set(place, bytes)
    return bytes
  }
}

function placeOf({ width, index }: Subtree): Place {
  let level = 0
  let count = width
  for (; count >= TILE_WIDTH; count /= TILE_WIDTH) level += 1
  const first = index * count
  return { level, index: Math.floor(first / TILE_WIDTH), offset: first % TILE_WIDTH, count }
}

function rootIn(hasher: TreeHasher, tile: Uint8Array, offset: number, count: number): Hash {
  if (count === 1) return hashIn(tile, offset)
  const half = count / 2
  return hasher.node(rootIn(hasher, tile, offset, half), rootIn(hasher, tile, offset + half, half))
}
