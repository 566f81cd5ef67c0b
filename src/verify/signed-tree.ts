import { type Frontier, frontierAt, rootOf, tilesOfFrontier } from '../tlog/frontier.ts'
import type { Hash, TreeHasher } from '../tlog/hash.ts'
import {
  consistencyProof,
  inclusionProof,
  isConsistent,
  isIncluded,
  type ReadTile,
  tilesOfConsistency,
  tilesOfInclusion,
  type Tree,
} from '../tlog/proof.ts'
import { formatTilePath, parseTile, type Tile } from '../tlog/tile.ts'
import { WrongError } from './reading/finding.ts'
import type { Source } from './reading/source.ts'
import type { KnownRoots } from './saved-checkpoint.ts'

/**
 * Tree of a checkpoint, read by its tiles. The tiles are not trusted: each result is proved against the signed root.
 */
export type SignedTree = KnownRoots &
  Readonly<{
    /** Proves the root of the first `size` entries, for `rootAt` and `proof`. Throws a `WrongError` without a proof. */
    prove(size: number): Promise<void>
    /** Number of hashes between an entry and the root. Throws a `WrongError` when the entry is not in the tree. */
    pathOf(index: number, entry: Uint8Array): Promise<number>
    /** Frontier of the first `size` entries, which is unproved until its root is compared. */
    frontier(size: number): Promise<Frontier>
  }>

/** Opens the tree of a checkpoint. Each tile is read once. */
export function openSignedTree(source: Source, now: Tree, hasher: TreeHasher): SignedTree {
  const tiles = new Map<string, Uint8Array>()
  const roots = new Map<number, Hash>([
    [0, hasher.empty],
    [now.size, now.root],
  ])
  const read: ReadTile = (tile) => tiles.get(formatTilePath(tile)) ?? new Uint8Array(0)

  async function load(wanted: readonly Tile[] = []): Promise<void> {
    for (const tile of wanted) {
      const path = formatTilePath(tile)
      if (tiles.has(path)) continue
      const bytes = await source.read(`log/${path}`, now.size)
      if (bytes === undefined || parseTile(bytes, tile.width) === undefined)
        throw new WrongError(`log/${path}`, 'is missing, or is no tile of this width')
      tiles.set(path, bytes)
    }
  }

  async function frontier(size: number): Promise<Frontier> {
    await load(tilesOfFrontier(size))
    return frontierAt(hasher, size, read)
  }

  return {
    rootAt: (size) => roots.get(size),
    proof: (from, to) => consistencyProof(hasher, from, to, read) ?? [],
    frontier,
    async prove(size) {
      if (roots.has(size) || size > now.size) return
      await load(tilesOfConsistency(size, now.size))
      const root = rootOf(hasher, await frontier(size))
      const proof = consistencyProof(hasher, size, now.size, read)
      if (proof === undefined || !isConsistent(hasher, { size, root }, now, proof))
        throw new WrongError('log/tile', 'its hashes do not lead to the signed root')
      roots.set(size, root)
    },
    async pathOf(index, entry) {
      await load(tilesOfInclusion(index, now.size))
      const proof = inclusionProof(hasher, index, now.size, read)
      const claim = { leaf: hasher.leaf(entry), index, ...now }
      if (proof === undefined || !isIncluded(hasher, claim, proof))
        throw new WrongError(`seq ${index + 1}`, 'is not in the signed tree as it is shown')
      return proof.length
    },
  }
}
