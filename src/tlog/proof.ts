import { type Hash, HASH_BYTES, hashIn, isHash, isSame, type TreeHasher } from './hash.ts'
import { type Tile, TILE_WIDTH, widthAt } from './tile.ts'
import { assert } from '../protocol/brand.ts'

/** Claim that the leaf with this hash is at `index` (from 0) in the tree with this size and root. */
type Inclusion = Readonly<{ leaf: Hash; index: number; size: number; root: Hash }>

/**
 * Makes the inclusion proof (RFC 6962, section 2.1.1) of the leaf at `index` in the tree of this size, the leaf's
 * sibling first. Undefined when the tree has no such leaf. Reads at most 6 tiles at 2^24 leaves.
 */
export function inclusionProof(
  hasher: TreeHasher,
  index: number,
  size: number,
  read: ReadTile,
): readonly Hash[] | undefined {
  const ranges = inclusionRanges(index, size)
  return ranges && rangeRoots(hasher, ranges, size, read)
}

/** Tiles that `inclusionProof` reads, so that a caller can fetch them first; undefined if the tree has no such leaf. */
export function tilesOfInclusion(index: number, size: number): readonly Tile[] | undefined {
  const ranges = inclusionRanges(index, size)
  return ranges && tilesUnder(ranges, size)
}

/** Verifies an inclusion proof (RFC 9162, section 2.1.3.2). False for malformed proofs and claims too. */
export function isIncluded(hasher: TreeHasher, claim: Inclusion, proof: readonly Hash[]): boolean {
  const { leaf, index, size, root } = claim
  if (!hasLeaf(index, size) || ![leaf, root, ...proof].every(isHash)) return false
  let [fn, sn, hash] = [index, size - 1, leaf]
  for (const sibling of proof) {
    if (sn === 0) return false
    if (fn % 2 === 1 || fn === sn) {
      hash = hasher.node(sibling, hash)
      while (fn % 2 === 0 && fn !== 0) [fn, sn] = [half(fn), half(sn)]
    } else {
      hash = hasher.node(hash, sibling)
    }
    ;[fn, sn] = [half(fn), half(sn)]
  }
  return sn === 0 && isSame(hash, root)
}

/** Ranges whose roots form the proof: PATH of RFC 6962. */
function inclusionRanges(index: number, size: number): readonly LeafRange[] | undefined {
  return hasLeaf(index, size) ? rangesBeside(index, { from: 0, to: size }) : undefined
}

function rangesBeside(index: number, { from, to }: LeafRange): readonly LeafRange[] {
  if (to - from === 1) return []
  const middle = from + splitOf(to - from)
  const [left, right] = [
    { from, to: middle },
    { from: middle, to },
  ]
  return index < middle ? [...rangesBeside(index, left), right] : [...rangesBeside(index, right), left]
}

function hasLeaf(index: number, size: number): boolean {
  return Number.isSafeInteger(size) && Number.isSafeInteger(index) && index >= 0 && index < size
}

/** Size and root of a tree. */
export type Tree = Readonly<{ size: number; root: Hash }>

/**
 * Makes the consistency proof (RFC 6962, section 2.1.2): the tree of size `to` grew from the tree of size `from`. Empty
 * for equal sizes; undefined unless 1 ≤ `from` ≤ `to`.
 */
export function consistencyProof(
  hasher: TreeHasher,
  from: number,
  to: number,
  read: ReadTile,
): readonly Hash[] | undefined {
  const ranges = consistencyRanges(from, to)
  return ranges && rangeRoots(hasher, ranges, to, read)
}

/**
 * Tiles that `consistencyProof` reads, so that a caller can fetch them first. Undefined where `consistencyProof` is.
 */
export function tilesOfConsistency(from: number, to: number): readonly Tile[] | undefined {
  const ranges = consistencyRanges(from, to)
  return ranges && tilesUnder(ranges, to)
}

/**
 * Verifies that the later tree grew from the earlier one (RFC 9162, section 2.1.4.2). False when the earlier tree is
 * empty or larger.
 */
export function isConsistent(
  hasher: TreeHasher,
  earlier: Tree,
  later: Tree,
  proof: readonly Hash[],
): boolean {
  const [m, n] = [earlier.size, later.size]
  if (!arePair(m, n) || ![earlier.root, later.root, ...proof].every(isHash)) return false
  if (m === n) return proof.length === 0 && isSame(earlier.root, later.root)
  const [first, ...rest] = isPowerOfTwo(m) ? [earlier.root, ...proof] : proof
  // `first` may be the earlier root itself: a proof between different sizes is never empty.
  if (first === undefined || proof.length === 0) return false
  let [fn, sn] = [m - 1, n - 1]
  while (fn % 2 === 1) [fn, sn] = [half(fn), half(sn)]
  let [fr, sr] = [first, first]
  for (const hash of rest) {
    if (sn === 0) return false
    if (fn % 2 === 1 || fn === sn) {
      ;[fr, sr] = [hasher.node(hash, fr), hasher.node(hash, sr)]
      while (fn % 2 === 0 && fn !== 0) [fn, sn] = [half(fn), half(sn)]
    } else {
      sr = hasher.node(sr, hash)
    }
    ;[fn, sn] = [half(fn), half(sn)]
  }
  return sn === 0 && isSame(fr, earlier.root) && isSame(sr, later.root)
}

/** Ranges whose roots form the proof: PROOF of RFC 6962. */
function consistencyRanges(from: number, to: number): readonly LeafRange[] | undefined {
  return arePair(from, to) ? rangesOf(from, { from: 0, to }, true) : undefined
}

/** SUBPROOF of RFC 6962. `isWhole`: the verifier knows the root of the earlier tree within this range. */
function rangesOf(size: number, range: LeafRange, isWhole: boolean): readonly LeafRange[] {
  const { from, to } = range
  if (size === to) return isWhole ? [] : [range]
  const middle = from + splitOf(to - from)
  const [left, right] = [
    { from, to: middle },
    { from: middle, to },
  ]
  return size <= middle ? [...rangesOf(size, left, isWhole), right] : [...rangesOf(size, right, false), left]
}

function arePair(from: number, to: number): boolean {
  return Number.isSafeInteger(from) && Number.isSafeInteger(to) && from >= 1 && from <= to
}

function isPowerOfTwo(value: number): boolean {
  return value === 1 || splitOf(value) * 2 === value
}

/**
 * Returns the bytes of a tile, exactly `width` hashes. The caller asks for the tile at its width in the tree, full or
 * partial. The bytes must stay unchanged until the function that reads them returns.
 */
export type ReadTile = (tile: Tile) => Uint8Array

/** Leaves [from, to) of a subtree, as RFC 6962 splits a tree. */
type LeafRange = Readonly<{ from: number; to: number }>

/** A full subtree: `width` leaves, a power of two, starting at leaf `index · width`. */
type Subtree = Readonly<{ width: number; index: number }>

/** Hashes under a subtree within one tile: `count` of them from `offset` on. */
type TileSlice = Readonly<{ level: number; index: number; offset: number; count: number }>

/** Largest power of two below a number above 1. RFC 6962 splits a tree of that many leaves there. */
function splitOf(width: number): number {
  let split = 1
  while (split * 2 < width) split *= 2
  return split
}

/** Half of a number, rounded down. Bit shifts work on 32 bits only, and sizes reach 2^53−1. */
function half(value: number): number {
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
  // A copy: a caller that keeps one hash must not keep the whole tile in memory.
  return count === 1 ? new Uint8Array(hashIn(bytes, offset)) : rootIn(hasher, bytes, offset, count)
}

/** Tiles from which the roots of these ranges are computed, each once, in the tree of this size. */
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
