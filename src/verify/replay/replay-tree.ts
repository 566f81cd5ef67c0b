import { assert } from '../../protocol/brand.ts'
import { appendLeaf, emptyFrontier, rootOf } from '../../tlog/frontier.ts'
import type { Hash, TreeHasher } from '../../tlog/hash.ts'
import { formatTile, type Tile, TILE_WIDTH } from '../../tlog/tile.ts'
import { consistencyProof, type ReadTile } from '../../tlog/proof.ts'

/**
 * Tree over entries that are read one by one. It keeps the roots at given sizes, and the hashes for proofs between
 * them. That takes an eighth of a byte for each entry, and a tile for each size.
 */
export type ReplayTree = Readonly<{
  size(): number
  add(leaf: Uint8Array): void
  /** Root of the first `size` entries, for a given size that is reached, and for the current size. */
  rootAt(size: number): Hash | undefined
  /** Hashes of a tile; undefined for a tile of leaves without a given size in it. */
  hashesOf(tile: Tile): readonly Hash[] | undefined
  /** Consistency proof between two given sizes that are reached, from 1. */
  proof(from: number, to: number): readonly Hash[]
}>

/** Opens an empty tree, with the sizes whose roots will be needed. */
export function openReplayTree(hasher: TreeHasher, sizes: Iterable<number>): ReplayTree {
  const frontier = emptyFrontier()
  const named = new Set(sizes)
  // A proof from a size reads the tile of its last leaf, and that of the next leaf.
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
