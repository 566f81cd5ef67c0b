import type { DatabaseSync } from 'node:sqlite'
import { readCheckpoint } from '../../tlog/checkpoint.ts'
import { isSame } from '../../tlog/hash.ts'
import type { HighWater } from '../../log/store/high-water.ts'
import { openStoredTree } from '../../log/tree/stored-tree.ts'

/** The newest tree that a node has served, when its store lacks it: an older backup was restored. */
type OwedTree = Readonly<{
  /** Whether the store has it. Until then this node takes no drafts. */
  isReached(): boolean
  /** Whether the log with this head and place is another one than was served. Checked once, when the log is long enough. */
  differs(seq: number, place: number): boolean
}>

/** Opens the tree of a high-water mark; null when the store lacks nothing. */
export function openOwedTree(db: DatabaseSync, mark: HighWater | null): OwedTree {
  const read = mark === null ? null : readCheckpoint(Buffer.from(mark.checkpoint))
  let owed = read !== null && read.ok ? read.value.checkpoint : null
  return {
    isReached: () => owed === null,
    differs(seq, place) {
      if (owed === null || seq < owed.size || place < (mark?.place ?? 0)) return false
      const { size, root } = owed
      owed = null
      return !isSame(openStoredTree(db).at(size).root, root)
    },
  }
}
