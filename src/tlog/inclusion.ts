import { type Hash, isHash, isSame, type TreeHasher } from './hash.ts'
import { half, type LeafRange, rangeRoots, type ReadTile, splitOf, tilesUnder } from './subtree.ts'
import type { Tile } from './tile.ts'

/** Claim that the leaf with this hash is at `index` (from 0) in the tree of this size and root. */
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
