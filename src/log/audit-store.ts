import type { DatabaseSync } from 'node:sqlite'
import { appendLeaf, emptyFrontier, rootOf } from '../tlog/frontier.ts'
import type { LevelHash } from '../tlog/frontier.ts'
import type { Hash } from '../tlog/hash.ts'
import { isSame } from '../tlog/hash.ts'
import { TILE_WIDTH } from '../tlog/tile.ts'
import type { Row } from './store/codec.ts'
import { bytes } from './store/codec.ts'
import type { HighWater } from './store/high-water.ts'
import type { LogFault } from './tree/log-fault.ts'
import { faultAtEnd, faultOfRow, faultOfSpan, headOf, LEAVES_AFTER, TREE_DIFFERS } from './tree/log-fault.ts'
import { openSignedTrees, originAt } from './tree/signed-trees.ts'
import { isSigned } from './tree/signer.ts'
import { readVerifiers } from './tree/signing-keys.ts'
import { readIdentity } from './store/store.ts'
import { HASHER } from './tree/tree-hasher.ts'

/** Events hashed in one slice: about a millisecond of one thread. */
const SLICE_EVENTS = 256

/** How far an audit is: events hashed so far, of how many there were at the last look; `fault` ends it. */
export type AuditState = Readonly<{ checked: number; events: number; done: boolean; fault: LogFault | null }>

export type StoreAuditSettings = Readonly<{
  /** Reads the high-water mark; null where the log is not held against one. */
  mark(): HighWater | null
  /** Verifies the signature of every commit: some 60 µs each. Else those of the months and the newest one. */
  everySignature: boolean
}>

/**
 * Hashes the whole log again, slice by slice, each in a read transaction of its own: every leaf against its line,
 * every stored hash of the tree against the leaves, and at the end of the log every month's checkpoint, the newest
 * signature and the high-water mark against the tree. The log may grow meanwhile. Memory does not grow with it.
 */
export function openAudit(db: DatabaseSync, { mark, everySignature }: StoreAuditSettings): () => AuditState {
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
    // Read before the snapshot that it is held against: the log is never behind its mark.
    const marked = mark()
    return inSnapshot(db, frontier, () => ({ ...state, fault: faultAtEnd(db, marked) }))
  }
}

/** Whether a signature is of the tree of this size and root. */
function openSignatures(db: DatabaseSync): (signature: Uint8Array, size: number, root: Hash) => boolean {
  const identity = readIdentity(db)
  const keys = readVerifiers(db)
  return (signature, size, root) => isSigned(originAt(identity, size), { size, root }, signature, keys)
}

function faultOfHash(db: DatabaseSync, { level, index }: LevelHash): LogFault {
  const width = TILE_WIDTH ** level
  const stretch = { after: index * width, upTo: (index + 1) * width }
  const wrong = openSignedTrees(db).firstWrongWithin(stretch)
  return faultOfSpan(wrong, 'the stored tree is not that of the events')
}

/** Asks in one read transaction. A store that cannot be read is at fault where it is read. */
function inSnapshot(
  db: DatabaseSync,
  { size }: Readonly<{ size: number }>,
  ask: () => AuditState,
): AuditState {
  db.exec('BEGIN')
  try {
    return ask()
  } catch (error) {
    if (!isOfStore(error)) throw error
    const fault = {
      seq: size + 1,
      reason: `the store cannot be read from here on: ${error.message}`,
      lost: false,
    }
    return { checked: size, events: size, done: true, fault }
  } finally {
    db.exec('COMMIT')
  }
}

function isOfStore(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && error.code === 'ERR_SQLITE_ERROR'
}

function firstOf(rows: readonly Row[], faultOf: (row: Row) => LogFault | null): LogFault | null {
  for (const row of rows) {
    const fault = faultOf(row)
    if (fault !== null) return fault
  }
  return null
}
