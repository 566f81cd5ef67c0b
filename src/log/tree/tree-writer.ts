import type { DatabaseSync } from 'node:sqlite'
import { assert } from '../../protocol/brand.ts'
import { formatEntry } from '../../tlog/entries.ts'
import { appendLeaf, copyOfFrontier, frontierAt, type LevelHash, rootOf } from '../../tlog/frontier.ts'
import type { Hash } from '../../tlog/hash.ts'
import type { Signer } from './signer.ts'
import { HASHER, openStoredTree } from './stored-tree.ts'

/**
 * Hash of a leaf, and the hashes of higher levels that it completes. `signature` is that of the tree that ends with
 * this leaf, from an older store or another node. Without one it is null, and `sign` signs at the last leaf.
 */
type AddedLeaf = Readonly<{
  leaf: Hash
  completed: readonly LevelHash[]
  signature: Uint8Array | null
}>

/** Writing half of the tree, called in the log's transaction. */
export type TreeWriter = Readonly<{
  /** Adds the next event's leaf. */
  add(line: string, details: string | null): AddedLeaf
  /** The root of the tree up to the last event added. */
  root(): Hash
  /** Must be called when the added leaves were written. */
  written(): void
  /** Returns to the leaves that were last written. */
  forget(): void
  /**
   * Signs the tree up to `head`, the last written event, unless it is signed already. The last step before a commit.
   */
  sign(head: number): void
  /** Newest note that this writer signed. Throws before the first one, and again after `reload`. */
  checkpoint(): string
  /** Discards the state in memory, after a rollback. */
  reload(head: number): void
}>

/** Opens the tree of the log whose last event is `head`. */
export function openTreeWriter(db: DatabaseSync, signer: Signer, head: number): TreeWriter {
  const update = db.prepare('UPDATE events SET signature = ? WHERE seq = ?')
  const load = (size: number) => frontierAt(HASHER, size, openStoredTree(db).tile)
  let frontier = load(head)
  let written = copyOfFrontier(frontier)
  let signed: Readonly<{ size: number; note: string | null }> = { size: head, note: null }

  return {
    add(line, details) {
      const leaf = HASHER.leaf(formatEntry(line, details))
      return { leaf, completed: appendLeaf(HASHER, frontier, leaf), signature: null }
    },
    root: () => rootOf(HASHER, frontier),
    written: () => void (written = copyOfFrontier(frontier)),
    forget: () => void (frontier = copyOfFrontier(written)),
    sign(size) {
      if (size === signed.size) return
      assert(frontier.size === size, `the tree of ${frontier.size} leaves ends with the head, ${size}`)
      const { signature, note } = signer.sign({ size, root: rootOf(HASHER, frontier) })
      update.run(signature, size)
      signed = { size, note }
    },
    checkpoint() {
      assert(signed.note !== null, 'a tree was signed')
      return signed.note
    },
    reload(size) {
      frontier = load(size)
      written = copyOfFrontier(frontier)
      signed = { size, note: null }
    },
  }
}
