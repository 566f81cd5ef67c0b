import type { DatabaseSync } from 'node:sqlite'
import { appendLeaf, emptyFrontier } from '../tlog/frontier.ts'
import type { LevelHash } from '../tlog/frontier.ts'
import { isSame } from '../tlog/hash.ts'
import { TILE_WIDTH } from '../tlog/tile.ts'
import { bytes, number } from './codec.ts'
import type { LogFault } from './log-fault.ts'
import {
  EVENT_MISSING,
  faultOfSignatures,
  faultOfSpan,
  LEAF_DIFFERS,
  LEAVES_AFTER,
  leafOf,
} from './log-fault.ts'
import { openSignedTrees } from './signed-trees.ts'
import { HASHER } from './tree-hasher.ts'

/** Events hashed in one slice: about a millisecond of one thread. */
const SLICE_EVENTS = 256

/** How far an audit is: events hashed so far, of how many there were at the last look; `fault` ends it. */
export type AuditState = Readonly<{ checked: number; events: number; done: boolean; fault: LogFault | null }>

/**
 * Hashes the whole log again, slice by slice, each in a read transaction of its own: every leaf against its line,
 * every stored hash of the tree against the leaves, and at the end of the log every month's checkpoint and the newest
 * against the tree. The log may grow meanwhile. Memory does not grow with it.
 */
export function openAudit(db: DatabaseSync): () => AuditState {
  const frontier = emptyFrontier()
  const next = db.prepare(LEAVES_AFTER)
  const head = db.prepare('SELECT max(seq) AS seq FROM events')
  const stored = db.prepare('SELECT hash FROM tree_hashes WHERE level = ? AND n = ?')

  function faultOf(rows: readonly Record<string, unknown>[]): LogFault | null {
    for (const row of rows) {
      const seq = frontier.size + 1
      if (number(row, 'seq') !== seq) return { seq, reason: EVENT_MISSING, lost: false }
      const leaf = leafOf(row)
      if (!isSame(leaf, bytes(row, 'leaf'))) return { seq, reason: LEAF_DIFFERS, lost: false }
      const wrong = appendLeaf(HASHER, frontier, leaf).find((hash) => !isStored(hash))
      if (wrong !== undefined) return faultOfHash(wrong)
    }
    return null
  }

  function isStored({ level, index, hash }: LevelHash): boolean {
    const found = stored.get(level, index)?.['hash']
    return found instanceof Uint8Array && isSame(found, hash)
  }

  function faultOfHash({ level, index }: LevelHash): LogFault {
    const width = TILE_WIDTH ** level
    const stretch = { after: index * width, upTo: (index + 1) * width }
    return faultOfSpan(
      openSignedTrees(db).firstWrongWithin(stretch),
      'the stored tree is not that of the events',
    )
  }

  return () => {
    db.exec('BEGIN')
    try {
      const rows = next.all(frontier.size, SLICE_EVENTS)
      const events = Number(head.get()?.['seq'] ?? 0)
      const done = rows.length < SLICE_EVENTS
      const fault = faultOf(rows) ?? (done ? faultAtEnd(db, events) : null)
      return { checked: frontier.size, events, done: done || fault !== null, fault }
    } finally {
      db.exec('COMMIT')
    }
  }
}

function faultAtEnd(db: DatabaseSync, events: number): LogFault | null {
  if (events === 0) return null
  const wrong = openSignedTrees(db).firstWrong()
  if (wrong !== null) return faultOfSpan(wrong, 'the tree is not the one that was signed')
  return faultOfSignatures(db, events)
}
