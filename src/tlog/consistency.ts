import { type Hash, isHash, isSame, type TreeHasher } from './hash.ts'
import { half, type LeafRange, rangeRoots, type ReadTile, splitOf, tilesUnder } from './subtree.ts'
import type { Tile } from './tile.ts'

/** Size and root of a tree. */
export type Tree = Readonly<{ size: number; root: Hash }>

/**
 * Makes the consistency proof (RFC 6962, section 2.1.2) that the tree of size `to` grew from the tree of size `from`.
 * Empty for equal sizes; undefined unless 1 ≤ `from` ≤ `to`.
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

/** Tiles that `consistencyProof` reads, so that a caller can fetch them first; undefined where it is undefined. */
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
