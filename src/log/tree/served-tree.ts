import type { DatabaseSync } from 'node:sqlite'
import { base64 } from '@scure/base'
import { readCheckpoint } from '../../tlog/checkpoint.ts'
import type { Tree } from '../../tlog/consistency.ts'
import { isSame } from '../../tlog/hash.ts'
import { formatVkey } from '../../tlog/vkey.ts'
import type { HighWater } from '../store/high-water.ts'
import type { EnginePosition } from '../stream/engine-position.ts'
import { compareMessage } from '../stream/served-message.ts'
import type { SigningKey } from './signer.ts'
import { verifierKeyOf } from './signer.ts'
import { openStoredTree } from './stored-tree.ts'

/** The newest tree and message that a node has served, when its store lacks them: an older backup was restored. */
type ServedTree = Readonly<{
  /** Whether the store has both. */
  isReached(): boolean
  /** Whether the log with this head is another one than was served. Checked once, when the log is long enough. */
  differs(seq: number, position: EnginePosition): boolean
}>

/** Opens the tree of a high-water mark; null when the store lacks nothing. */
export function openServedTree(db: DatabaseSync, mark: HighWater | null): ServedTree {
  const message = mark?.message
  let served = mark === null ? null : treeOfNote(mark.checkpoint)
  return {
    isReached: () => served === null,
    differs(seq, position) {
      if (served === null || seq < served.size) return false
      const compared = message === undefined ? 'same' : compareMessage(db, position, message)
      if (compared === 'missing') return false
      const { size, root } = served
      served = null
      return compared === 'other' || !isSame(openStoredTree(db).at(size).root, root)
    },
  }
}

/** Size and root (base64) of the tree in a signed note. */
export function treeInNote(note: string): Readonly<{ size: number; root: string }> {
  const tree = treeOfNote(note)
  return { size: tree?.size ?? 0, root: tree === null ? '' : base64.encode(tree.root) }
}

function treeOfNote(note: string): Tree | null {
  const read = readCheckpoint(Buffer.from(note))
  return read.ok ? read.value.checkpoint : null
}

/** Vkeys of keys that sign a log of this origin. */
export function vkeysOf(origin: string, keys: readonly SigningKey[]): readonly string[] {
  return keys.map(({ publicKey }) => formatVkey(verifierKeyOf(origin, publicKey)))
}
