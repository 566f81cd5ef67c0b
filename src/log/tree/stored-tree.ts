import type { DatabaseSync } from 'node:sqlite'
import { assert } from '../../protocol/brand.ts'
import { frontierAt, rootOf } from '../../tlog/frontier.ts'
import { HASH_BYTES, isSame, type TreeHasher, treeHasher } from '../../tlog/hash.ts'
import { TILE_WIDTH } from '../../tlog/tile.ts'
import { bytes } from '../store/codec.ts'
import { sha256 } from './signer.ts'
import type { ReadTile, Tree } from '../../tlog/proof.ts'

/** Hashes of the tree, by Node's own SHA-256. */
export const HASHER: TreeHasher = treeHasher(sha256)

/** Tree from its stored hashes: level 0 is in `events`, the others are in `tree_hashes`. */
export type StoredTree = Readonly<{
  /** The bytes of a tile. Throws when the store lacks one of its hashes. */
  tile: ReadTile
  /** Tree of the first `size` leaves. Reads one tile of each level. */
  at(size: number): Tree
}>

export function openStoredTree(db: DatabaseSync): StoredTree {
  const leaves = db.prepare(
    joinedIn('SELECT leaf AS hash FROM events WHERE seq > ? AND seq <= ? ORDER BY seq'),
  )
  const above = db.prepare(
    joinedIn('SELECT hash FROM tree_hashes WHERE level = ? AND n >= ? AND n < ? ORDER BY n'),
  )
  const tile: ReadTile = ({ level, index, width }) => {
    const [from, to] = [index * TILE_WIDTH, index * TILE_WIDTH + width]
    const row = level === 0 ? leaves.get(from, to) : above.get(level, from, to)
    assert(row?.['count'] === width, `the stored tree has hashes ${from} to ${to - 1} of level ${level}`)
    return width === 0 ? new Uint8Array(0) : bytes(row, 'bytes')
  }
  return { tile, at: (size) => ({ size, root: rootOf(HASHER, frontierAt(HASHER, size, tile)) }) }
}

/** Whether the first `size` leaves of two stores have the same root. */
export function haveSameTree(one: DatabaseSync, other: DatabaseSync, size: number): boolean {
  return isSame(openStoredTree(one).at(size).root, openStoredTree(other).at(size).root)
}

/**
 * Query that joins hashes into one blob, five times as fast as rows, and counts the complete ones. `hashes` is their
 * query.
 */
function joinedIn(hashes: string): string {
  return `SELECT count(*) FILTER (WHERE length(hash) = ${HASH_BYTES}) AS count,
    unhex(group_concat(hex(hash), '')) AS bytes FROM (${hashes})`
}
