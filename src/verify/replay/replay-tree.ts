import { assert } from '../../protocol/brand.ts'
import { consistencyProof } from '../../tlog/consistency.ts'
import { appendLeaf, emptyFrontier, rootOf } from '../../tlog/frontier.ts'
import type { Hash, TreeHasher } from '../../tlog/hash.ts'
import type { ReadTile } from '../../tlog/subtree.ts'
import type { Tile } from '../../tlog/tile.ts'
import { formatTile, TILE_WIDTH } from '../../tlog/tile.ts'

/**
 * The tree over entries that go by one by one. It keeps the roots at the sizes named before, and of the tiles what
 * proofs between those sizes are made of: an eighth of a byte an entry, and a tile for each size.
 */
export type ReplayTree = Readonly<{
  size(): number
  add(leaf: Uint8Array): void
  /** The root of the first `size` entries: of a size that was named, once it is reached, or of the present one. */
  rootAt(size: number): Hash | undefined
  /** The hashes of a tile; undefined of one of leaves that is under no size that was named. */
  hashesOf(tile: Tile): readonly Hash[] | undefined
  /** That the tree of the larger size grew from the other; both were named, and are reached, and from 1. */
  proof(from: number, to: number): readonly Hash[]
}>

export function openReplayTree(hasher: TreeHasher, sizes: Iterable<number>): ReplayTree {
  const frontier = emptyFrontier()
  const named = new Set(sizes)
  // The proof from a size reads the tile that its last leaf is in, and the one that its next leaf is in.
  const keptTiles = new Set([...named].flatMap((size) => [tileOf(size - 1), tileOf(size)]))
  const roots = new Map<number, Hash>(named.has(0) ? [[0, hasher.empty]] : [])
  const tiles = new Map<number, Hash[]>()
  const levels: Hash[][] = []

  function hashesOf({ level, index, width }: Tile): readonly Hash[] | undefined {
    const first = level === 0 ? 0 : index * TILE_WIDTH
    const hashes = level === 0 ? tiles.get(index) : levels[level]
    return hashes?.slice(first, first + width)
  }

  const read: ReadTile = (tile) => formatTile(hashesOf(tile) ?? [])

  return {
    size: () => frontier.size,
    add(bytes) {
      const leaf = hasher.leaf(bytes)
      const index = tileOf(frontier.size)
      if (keptTiles.has(index)) {
        const tile = tiles.get(index) ?? []
        tiles.set(index, tile)
        tile.push(leaf)
      }
      for (const { level, hash } of appendLeaf(hasher, frontier, leaf)) {
        const hashes = levels[level] ?? []
        levels[level] = hashes
        hashes.push(hash)
      }
      if (named.has(frontier.size)) roots.set(frontier.size, rootOf(hasher, frontier))
    },
    rootAt: (size) => roots.get(size) ?? (size === frontier.size ? rootOf(hasher, frontier) : undefined),
    hashesOf,
    proof(from, to) {
      const proof = consistencyProof(hasher, from, to, read)
      assert(proof !== undefined, `size ${from} is from 1 to ${to}`)
      return proof
    },
  }
}

function tileOf(index: number): number {
  return Math.floor(index / TILE_WIDTH)
}
