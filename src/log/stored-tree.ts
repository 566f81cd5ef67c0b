import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { assert } from '../protocol/brand.ts'
import type { Tree } from '../tlog/consistency.ts'
import { frontierAt, rootOf } from '../tlog/frontier.ts'
import { HASH_BYTES } from '../tlog/hash.ts'
import type { ReadTile } from '../tlog/subtree.ts'
import { TILE_WIDTH } from '../tlog/tile.ts'
import { HASHER } from './tree-hasher.ts'

/** The tree as its hashes are stored: level 0 beside the events, the others by themselves. */
export type StoredTree = Readonly<{
  /** A tile's bytes; throws when the store does not hold all of its hashes. */
  tile: ReadTile
  /** The root of the first `size` leaves, out of the stored hashes: one tile of each level is read. */
  at(size: number): Tree
}>

export function openStoredTree(db: DatabaseSync): StoredTree {
  const leaves = db.prepare(
    'SELECT seq - 1 AS n, leaf AS hash FROM events WHERE seq > ? AND seq <= ? ORDER BY seq',
  )
  const above = db.prepare('SELECT n, hash FROM tree_hashes WHERE level = ? AND n >= ? AND n < ? ORDER BY n')
  const tile: ReadTile = ({ level, index, width }) => {
    const [from, to] = [index * TILE_WIDTH, index * TILE_WIDTH + width]
    return level === 0 ? joined(leaves, from, width, from, to) : joined(above, from, width, level, from, to)
  }
  return { tile, at: (size) => ({ size, root: rootOf(HASHER, frontierAt(HASHER, size, tile)) }) }
}

/** Hashes `first` to `first + width` as one run of bytes. */
function joined(statement: StatementSync, first: number, width: number, ...bounds: number[]): Uint8Array {
  const bytes = new Uint8Array(width * HASH_BYTES)
  let found = 0
  for (const { n, hash } of statement.iterate(...bounds)) {
    const isNext = n === first + found && hash instanceof Uint8Array && hash.length === HASH_BYTES
    assert(isNext, `the stored tree has hash ${first + found} of a level`)
    bytes.set(hash, found * HASH_BYTES)
    found += 1
  }
  assert(found === width, `the stored tree has ${width} hashes of a tile, not ${found}`)
  return bytes
}
