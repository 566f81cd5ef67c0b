import type { DatabaseSync } from 'node:sqlite'
import { parseCheckpoint } from '../tlog/checkpoint.ts'
import { formatEntry } from '../tlog/entries.ts'
import type { Hash } from '../tlog/hash.ts'
import { isSame } from '../tlog/hash.ts'
import { parseNote } from '../tlog/note.ts'
import type { Row } from './codec.ts'
import { bytes, number, text } from './codec.ts'
import type { HighWater } from './high-water.ts'
import type { Span } from './signed-trees.ts'
import { openSignedTrees } from './signed-trees.ts'
import { readIdentity } from './store.ts'
import { openStoredTree } from './stored-tree.ts'
import { HASHER } from './tree-hasher.ts'

/**
 * What is wrong with a log: the first seq that is not what was published, as near as it can be told, and why.
 * `lost` says that the log itself is right and ends too early.
 */
export type LogFault = Readonly<{ seq: number; reason: string; lost: boolean }>

/** The newest events whose leaves are hashed again at each start. */
const NEWEST_LEAVES = 256

/**
 * What a start finds wrong, in a time that does not grow with the log: the newest leaves, the tree's frontier from
 * the stored hashes, the last checkpoint, and the high-water mark kept outside the database.
 */
export function faultAtStart(db: DatabaseSync, mark: HighWater | null): LogFault | null {
  const head = Number(db.prepare('SELECT max(seq) AS seq FROM events').get()?.['seq'] ?? 0)
  return (
    faultOfNewest(db, head) ??
    (head === 0 ? null : faultOfSignatures(db, head)) ??
    faultOfMark(db, mark, head)
  )
}

/** The first seqs whose signature is wrong, or missing at the head. */
export function faultOfSignatures(db: DatabaseSync, head: number): LogFault | null {
  const trees = openSignedTrees(db)
  const wrong = trees.isSignedAt(head) ? null : (trees.firstWrong() ?? { after: head - 1, upTo: head })
  return wrong === null ? null : faultOfSpan(wrong, 'the tree is not the one that was signed')
}

export function faultOfSpan({ after, upTo }: Span, reason: string): LogFault {
  const where = upTo === after + 1 ? '' : `, somewhere up to seq ${upTo}`
  return { seq: after + 1, reason: `${reason}${where}`, lost: false }
}

/** What a row's leaf must be. */
export function leafOf(row: Row): Hash {
  const details = row['details'] === null ? null : text(row, 'details')
  return HASHER.leaf(formatEntry(text(row, 'line'), details))
}

/** Events after a seq with their details and leaves. */
export const LEAVES_AFTER = `SELECT e.seq AS seq, e.line AS line, e.leaf AS leaf, d.line AS details
  FROM events e LEFT JOIN details d ON d.seq = e.seq WHERE e.seq > ? ORDER BY e.seq LIMIT ?`

export const LEAF_DIFFERS = 'the event is not what was published: its leaf is another'
export const EVENT_MISSING = 'the event is missing'

function faultOfNewest(db: DatabaseSync, head: number): LogFault | null {
  const first = Math.max(0, head - NEWEST_LEAVES)
  const rows = db.prepare(LEAVES_AFTER).all(first, NEWEST_LEAVES)
  for (const [index, row] of rows.entries()) {
    const seq = first + index + 1
    if (number(row, 'seq') !== seq) return { seq, reason: EVENT_MISSING, lost: false }
    if (!isSame(leafOf(row), bytes(row, 'leaf'))) return { seq, reason: LEAF_DIFFERS, lost: false }
  }
  return null
}

/** What has been shown to the world may not be more than the log holds, nor anything else. */
function faultOfMark(db: DatabaseSync, mark: HighWater | null, head: number): LogFault | null {
  if (mark === null) return null
  if (mark.log !== readIdentity(db).id) {
    return { seq: 1, reason: 'the high-water mark beside the store is of another log', lost: false }
  }
  const note = parseNote(Buffer.from(mark.checkpoint))
  const marked = note.ok ? parseCheckpoint(note.value.text) : undefined
  if (marked === undefined) return { seq: 1, reason: 'the high-water mark holds no checkpoint', lost: false }
  if (marked.size > head) {
    const reason = `the log ends at seq ${head}, and it was published up to seq ${marked.size}: the store is an older copy or was cut`
    return { seq: head + 1, reason, lost: true }
  }
  if (isSame(openStoredTree(db).at(marked.size).root, marked.root)) return null
  const span = openSignedTrees(db).firstWrong() ?? { after: 0, upTo: marked.size }
  return faultOfSpan(span, 'the log is not the one whose checkpoint was shown')
}
