import { assert } from '../protocol/brand.ts'
import type { Hash, TreeHasher } from './hash.ts'
import { hashesAt, type Tile } from './tile.ts'
import { rangeOf, rangeRoots, type ReadTile, subtreesOf, tilesUnder } from './proof.ts'

/**
 * State of a growing tree (the compact range [0, size)): the roots of its full subtrees, the largest first, at most
 * 53. `appendLeaf` changes it in place; keep a copy to be able to go back.
 */
export type Frontier = { size: number; roots: Hash[] }

/** A hash that became final at tile level 1 or higher: the root of a full tile one level down. */
export type LevelHash = Readonly<{ level: number; index: number; hash: Hash }>

/** Doublings from one tile level to the next: 2^8 = 256. */
const DOUBLINGS = 8
const NONE: readonly LevelHash[] = Object.freeze([])

export function emptyFrontier(): Frontier {
  return { size: 0, roots: [] }
}

export function copyOfFrontier({ size, roots }: Frontier): Frontier {
  return { size, roots: [...roots] }
}

/**
 * Appends the hash of the next leaf in place. Returns the hashes of levels 1 and up that it completed, the lowest
 * first; usually none. The leaf is the hash at level 0, index `size`. Limit: 2^53−1 leaves.
 */
export function appendLeaf(hasher: TreeHasher, frontier: Frontier, leaf: Hash): readonly LevelHash[] {
  const before = frontier.size
  assert(before < Number.MAX_SAFE_INTEGER, 'a tree has at most 2^53−1 leaves')
  const size = before + 1
  let completed = NONE
  let hash = leaf
  let doublings = 0
  // Each trailing one bit of the size is a full subtree as large as the current one, so the two merge.
  for (let odd = before; odd % 2 === 1; odd = (odd - 1) / 2) {
    const left = frontier.roots.pop()
    assert(left !== undefined, `the frontier of ${before} leaves lacks a root`)
    hash = hasher.node(left, hash)
    doublings += 1
    if (doublings % DOUBLINGS > 0) continue
    const level = doublings / DOUBLINGS
    completed = [...completed, { level, index: hashesAt(size, level) - 1, hash }]
  }
  frontier.roots.push(hash)
  frontier.size = size
  return completed
}

/** Root of the tree with this frontier. */
export function rootOf(hasher: TreeHasher, { roots }: Frontier): Hash {
  return roots.length === 0 ? hasher.empty : roots.reduceRight((right, left) => hasher.node(left, right))
}

/** Frontier of the tree of this size, computed from the last tile of each level. */
export function frontierAt(hasher: TreeHasher, size: number, read: ReadTile): Frontier {
  const ranges = subtreesOf({ from: 0, to: size }).map(rangeOf)
  return { size, roots: [...rangeRoots(hasher, ranges, size, read)] }
}

/** Tiles that `frontierAt` reads, so that a caller can fetch them first. */
export function tilesOfFrontier(size: number): readonly Tile[] {
  return tilesUnder([{ from: 0, to: size }], size)
}
