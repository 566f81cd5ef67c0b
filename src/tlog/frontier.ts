import { assert } from '../protocol/brand.ts'
import type { Hash, TreeHasher } from './hash.ts'
import type { ReadTile } from './subtree.ts'
import { rangeOf, rangeRoots, subtreesOf, tilesUnder } from './subtree.ts'
import type { Tile } from './tile.ts'
import { hashesAt } from './tile.ts'

/**
 * What a growing tree needs to go on: the roots of its full subtrees, the largest first, at most 53 of them (the
 * compact range [0, size)). `appendLeaf` changes it in place; whoever may have to go back keeps a copy.
 */
export type Frontier = { size: number; roots: Hash[] }

/** A hash that became final at a level of tiles, 1 or more: the root of a full tile one level down. */
export type LevelHash = Readonly<{ level: number; index: number; hash: Hash }>

/** Doublings from one level of tiles to the next: 2^8 is 256. */
const DOUBLINGS = 8
const NONE: readonly LevelHash[] = Object.freeze([])

export function emptyFrontier(): Frontier {
  return { size: 0, roots: [] }
}

export function copyOfFrontier({ size, roots }: Frontier): Frontier {
  return { size, roots: [...roots] }
}

/**
 * Appends the hash of the next leaf, in place, and gives the hashes of levels 1 and up that this leaf completed, the
 * lowest first; mostly none. Level 0 is the leaf's own hash at index `size`. At most 2^53−1 leaves.
 */
export function appendLeaf(hasher: TreeHasher, frontier: Frontier, leaf: Hash): readonly LevelHash[] {
  const before = frontier.size
  assert(before < Number.MAX_SAFE_INTEGER, 'a tree has at most 2^53−1 leaves')
  const size = before + 1
  let completed = NONE
  let hash = leaf
  let doublings = 0
  // Each one bit at the end of the size is a full subtree as large as the one now made: the two become one.
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

/** The root of the tree that the frontier stands for. */
export function rootOf(hasher: TreeHasher, { roots }: Frontier): Hash {
  return roots.length === 0 ? hasher.empty : roots.reduceRight((right, left) => hasher.node(left, right))
}

/** The frontier of the tree of this size, from its tiles: the last one of each level, each read once. */
export function frontierAt(hasher: TreeHasher, size: number, read: ReadTile): Frontier {
  const ranges = subtreesOf({ from: 0, to: size }).map(rangeOf)
  return { size, roots: [...rangeRoots(hasher, ranges, size, read)] }
}

/** The tiles that `frontierAt` reads, to be fetched before. */
export function tilesOfFrontier(size: number): readonly Tile[] {
  return tilesUnder([{ from: 0, to: size }], size)
}
