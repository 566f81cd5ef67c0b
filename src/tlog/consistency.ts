import type { Hash, TreeHasher } from './hash.ts'
import { isHash, isSame } from './hash.ts'
import type { LeafRange, ReadTile } from './subtree.ts'
import { rangeRoots, splitOf, tilesUnder } from './subtree.ts'
import type { Tile } from './tile.ts'

/** A tree's size and root. */
export type Tree = Readonly<{ size: number; root: Hash }>

/**
 * The consistency proof (RFC 6962, section 2.1.2) that the tree of size `to` grew from the one of size `from`, both
 * from 1; empty for equal sizes; undefined where `from` is 0 or beyond `to`, of which nothing can be proved.
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

/** The tiles that `consistencyProof` reads, to be fetched before; undefined where nothing can be proved. */
export function tilesOfConsistency(from: number, to: number): readonly Tile[] | undefined {
  const ranges = consistencyRanges(from, to)
  return ranges && tilesUnder(ranges, to)
}

/**
 * Whether the proof shows that the later tree grew from the earlier, by the steps of RFC 9162, section 2.1.4.2.
 * Nothing shows it of an earlier tree without leaves, or of one that is larger.
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
  // A root that was put before the proof is no part of it: the proof of a larger tree is never empty.
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

/** PROOF of RFC 6962: the ranges whose roots are the proof. */
function consistencyRanges(from: number, to: number): readonly LeafRange[] | undefined {
  return arePair(from, to) ? rangesOf(from, { from: 0, to }, true) : undefined
}

/** SUB of RFC 6962; `isWhole` says that the range from its beginning is a tree that the verifier knows. */
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

// Sizes reach 2^53−1, and the language's shifts only 32 bits.
function half(value: number): number {
  return Math.floor(value / 2)
}
