import type { DatabaseSync } from 'node:sqlite'
import { appendLeaf, emptyFrontier, type LevelHash, rootOf } from '../tlog/frontier.ts'
import { type Hash, isSame } from '../tlog/hash.ts'
import { TILE_WIDTH } from '../tlog/tile.ts'
import { bytes, type Row } from './store/codec.ts'
import type { HighWater } from './store/high-water.ts'
import {
  faultAtEnd,
  faultOfRow,
  faultOfSpan,
  headOf,
  LEAVES_AFTER,
  type LogFault,
  TREE_DIFFERS,
} from './tree/log-fault.ts'
import { isSignedIn, openSignedTrees } from './tree/signed-trees.ts'
import { readVerifiers } from './tree/signing-keys.ts'
import { isOfSqlite, isPassingFault } from './store/sqlite-error.ts'
import { readIdentity } from './store/store.ts'
import type { SigningKey } from './tree/signer.ts'
import { HASHER } from './tree/stored-tree.ts'

/** Events hashed in one slice, which takes about a millisecond. */
const SLICE_EVENTS = 256

/** Progress of an audit: hashed events, and events in the log when last checked. A `fault` ends the audit. */
export type AuditState = Readonly<{ checked: number; events: number; done: boolean; fault: LogFault | null }>

type StoreAuditSettings = Readonly<{
  /** Reads the high-water mark; null when the log has none to compare with. */
  mark(): HighWater | null
  /** Keys that may have signed the mark, in addition to those in the store. */
  keys?: readonly SigningKey[]
  /**
   * Whether to verify the signature of every commit, about 60 µs each. Otherwise only those of months and the newest
   * one are verified.
   */
  everySignature: boolean
}>

/**
 * Hashes the whole log again, one slice a call, each in its own read transaction. Compares every leaf with its line and
 * every stored hash with the leaves. At the end compares the months' checkpoints, the newest signature and the
 * high-water mark with the tree. The log may grow during the audit. Memory use does not depend on its length.
 */
export function openAudit(
  db: DatabaseSync,
  { mark, keys, everySignature }: StoreAuditSettings,
): () => AuditState {
  const frontier = emptyFrontier()
  const next = db.prepare(LEAVES_AFTER)
  const stored = db.prepare('SELECT hash FROM tree_hashes WHERE level = ? AND n = ?')
  const isSignedRight = everySignature ? openSignatures(db) : null
  let signed = 0

  function faultOf(row: Row): LogFault | null {
    const seq = frontier.size + 1
    const fault = faultOfRow(row, seq)
    if (fault !== null) return fault
    const wrong = appendLeaf(HASHER, frontier, bytes(row, 'leaf')).find((hash) => !isStored(hash))
    if (wrong !== undefined) return faultOfHash(db, wrong)
    if (isSignedRight === null || row['signature'] === null) return null
    if (!isSignedRight(bytes(row, 'signature'), seq, rootOf(HASHER, frontier))) {
      return faultOfSpan({ after: signed, upTo: seq }, TREE_DIFFERS)
    }
    signed = seq
    return null
  }

  function isStored({ level, index, hash }: LevelHash): boolean {
    const found = stored.get(level, index)?.['hash']
    return found instanceof Uint8Array && isSame(found, hash)
  }

  return () => {
    const state = inSnapshot(db, frontier, () => {
      const rows = next.all(frontier.size, SLICE_EVENTS)
      const fault = firstOf(rows, faultOf)
      const done = rows.length < SLICE_EVENTS || fault !== null
      return { checked: frontier.size, events: headOf(db), done, fault }
    })
    if (!state.done || state.fault !== null) return state
    // Read before the snapshot. The store is never behind its mark, so a mark read earlier cannot be ahead of it.
    const marked = mark()
    return inSnapshot(db, frontier, () => ({ ...state, fault: faultAtEnd(db, marked, keys) }))
  }
}

/** Opens the check of a stored signature over the tree with a size and root. */
function openSignatures(db: DatabaseSync): (signature: Uint8Array, size: number, root: Hash) => boolean {
  const identity = readIdentity(db)
  const keys = readVerifiers(db)
  return (signature, size, root) => isSignedIn(identity, { size, root }, signature, keys)
}

function faultOfHash(db: DatabaseSync, { level, index }: LevelHash): LogFault {
  const width = TILE_WIDTH ** level
  const stretch = { after: index * width, upTo: (index + 1) * width }
  const wrong = openSignedTrees(db).firstWrongWithin(stretch)
  return faultOfSpan(wrong, 'the stored tree is not that of the events')
}

/**
 * Runs `ask` in one read transaction. A SQLite error becomes a fault of the next event. A temporary error is thrown
 * instead, because it says nothing about the log.
 */
function inSnapshot(
  db: DatabaseSync,
  { size }: Readonly<{ size: number }>,
  ask: () => AuditState,
): AuditState {
  db.exec('BEGIN')
  try {
    return ask()
  } catch (error) {
    if (!isOfSqlite(error) || isPassingFault(error)) throw error
    const fault = {
      seq: size + 1,
      reason: `the store cannot be read from here on: ${error.message}`,
      lost: false,
    }
    return { checked: size, events: size, done: true, fault }
  } finally {
    // SQLite ends a transaction itself after some failures, such as lack of memory.
    if (db.isTransaction) db.exec('COMMIT')
  }
}

function firstOf(rows: readonly Row[], faultOf: (row: Row) => LogFault | null): LogFault | null {
  for (const row of rows) {
    const fault = faultOf(row)
    if (fault !== null) return fault
  }
  return null
}
