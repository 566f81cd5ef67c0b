import type { DatabaseSync } from 'node:sqlite'
import { formatEntry } from '../../tlog/entries.ts'
import { type Hash, isSame } from '../../tlog/hash.ts'
import { bytes, number, type Row, text } from '../store/codec.ts'
import { carriedPlace } from './carried-place.ts'
import type { HighWater } from '../store/high-water.ts'
import { openSignedTrees, type SeqSpan, tryRead } from './signed-trees.ts'
import { type SigningKey, verifierKeyOf } from './signer.ts'
import { readKeys, signingVerifiers, vouchedVerifiers } from './signing-keys.ts'
import { readIdentity } from '../store/store.ts'
import { HASHER } from './stored-tree.ts'

/**
 * Fault of a log: the reason, and the first seq that differs from the published log, as near as can be found. `lost`
 * means that all stored events are right and later ones are missing.
 */
export type LogFault = Readonly<{ seq: number; reason: string; lost: boolean }>

/** Newest events whose leaves are hashed again at each start. */
const NEWEST_LEAVES = 256

/**
 * Checks a log at start, in a time that does not depend on its length: the newest leaves, the tree's frontier from the
 * stored hashes, the newest signature and the high-water mark. With `own` keys, one of them must have signed the newest
 * tree, because an attacker can change the list of keys in the store.
 */
export function faultAtStart(
  db: DatabaseSync,
  mark: HighWater | null,
  own: readonly SigningKey[] = [],
): LogFault | null {
  const head = headOf(db)
  return faultOfNewest(db, head) ?? faultOfSignatures(db, head, own) ?? faultOfMark(db, mark, head, own)
}

/**
 * Whether a store is only behind the machines that carry its log, as after a restore. They still have the missing
 * events.
 */
export function isBehindCarrier(db: DatabaseSync, fault: LogFault): boolean {
  return fault.lost && carriedPlace(db) !== null
}

export function headOf(db: DatabaseSync): number {
  return Number(db.prepare('SELECT max(seq) AS seq FROM events').get()?.['seq'] ?? 0)
}

/** The first span of seqs whose signature is wrong or missing. */
function faultOfSignatures(db: DatabaseSync, head: number, own: readonly SigningKey[]): LogFault | null {
  if (head === 0) return null
  const trees = openSignedTrees(db)
  if (!trees.isSignedAt(head)) {
    const wrong = trees.firstWrong()
    if (wrong !== null) return faultOfSpan(wrong, TREE_DIFFERS)
    const after = Math.min(trees.lastSigned(), head - 1)
    return faultOfSpan({ after, upTo: head }, `the last signature is of the tree up to seq ${after}`)
  }
  const ours = signingVerifiers(db, own)
  if (ours.length === 0) return null
  const ownTrees = openSignedTrees(
    db,
    ours.map(({ verifier }) => verifier),
  )
  if (ownTrees.isSignedAt(head)) return null
  const after = Math.min(head - 1, ...ours.map(({ fromSize }) => fromSize))
  const wrong = ownTrees.firstWrongWithin({ after, upTo: head })
  return faultOfSpan(wrong, 'the tree is not signed with the given key')
}

/** Checks at the end of an audit: every month's checkpoint, the newest signature, and the mark. */
export function faultAtEnd(
  db: DatabaseSync,
  mark: HighWater | null,
  own: readonly SigningKey[] = [],
): LogFault | null {
  const head = headOf(db)
  const wrong = openSignedTrees(db).firstWrong()
  if (wrong !== null) return faultOfSpan(wrong, TREE_DIFFERS)
  return faultOfSignatures(db, head, []) ?? faultOfMark(db, mark, head, own)
}

/**
 * Fault of the given keys; null when there is none, and without keys. One of them must sign the log now, or vouch for a
 * key that has signed the newest tree. `faultAtStart` checks the signature of a given key that signs now.
 */
export async function faultOfGivenKeys(
  db: DatabaseSync,
  keys: readonly SigningKey[],
): Promise<string | null> {
  if (keys.length === 0 || signingVerifiers(db, keys).length > 0) return null
  const head = headOf(db)
  // A new log lists its keys at its first start.
  if (head === 0 && readKeys(db).length === 0) return null
  const vouched = await vouchedVerifiers(db, keys)
  // Anyone can list published keys and statements, so the key must also have signed this tree.
  if (vouched.length > 0 && (head === 0 || openSignedTrees(db, vouched).isSignedAt(head))) return null
  return 'signing_keys: no given key signs this log or vouches for its present key. Is it your log? After a change of its key, give the new one'
}

export const TREE_DIFFERS = 'the tree is not the one that was signed'

export function faultOfSpan({ after, upTo }: SeqSpan, reason: string): LogFault {
  const where = upTo === after + 1 ? '' : `, somewhere up to seq ${upTo}`
  return { seq: after + 1, reason: `${reason}${where}`, lost: false }
}

/** Leaf of a row's event; undefined when the row is no event. */
function leafOf(row: Row): Hash | undefined {
  const details = row['details'] === null ? null : text(row, 'details')
  // Hashing throws for a line that is longer than an entry can be.
  return tryRead(() => HASHER.leaf(formatEntry(text(row, 'line'), details)))
}

/** Checks that the row is that of `seq`, and that its leaf matches its lines. */
export function faultOfRow(row: Row, seq: number): LogFault | null {
  if (number(row, 'seq') !== seq) return { seq, reason: 'the event is missing', lost: false }
  const leaf = leafOf(row)
  return leaf !== undefined && isSame(leaf, bytes(row, 'leaf'))
    ? null
    : { seq, reason: LEAF_DIFFERS, lost: false }
}

/** Query for the events after a seq, with their details and leaves. */
export const LEAVES_AFTER = `SELECT e.seq AS seq, e.line AS line, e.leaf AS leaf, e.signature AS signature, d.line AS details
  FROM events e LEFT JOIN details d ON d.seq = e.seq WHERE e.seq > ? ORDER BY e.seq LIMIT ?`

const LEAF_DIFFERS = 'the event is not what was published: its leaf differs'

function faultOfNewest(db: DatabaseSync, head: number): LogFault | null {
  const first = Math.max(0, head - NEWEST_LEAVES)
  for (const [index, row] of db.prepare(LEAVES_AFTER).all(first, NEWEST_LEAVES).entries()) {
    const fault = faultOfRow(row, first + index + 1)
    if (fault !== null) return fault
  }
  return null
}

/** Compares the log with its high-water mark: everything published must be there unchanged. */
function faultOfMark(
  db: DatabaseSync,
  mark: HighWater | null,
  head: number,
  own: readonly SigningKey[],
): LogFault | null {
  if (mark === null) return null
  const { id, origin, former } = readIdentity(db)
  // A start after an accepted loss was interrupted between the new log's commit and its first mark.
  if (former.some((log) => log.id === mark.log)) return null
  if (mark.former.some((log) => log.id === id)) {
    const reason = 'the store is a copy from before a loss was accepted, and another log continues it'
    return { seq: head + 1, reason, lost: true }
  }
  if (mark.log !== id) {
    return { seq: 1, reason: 'the high-water mark beside the store belongs to another log', lost: false }
  }
  const trees = openSignedTrees(db)
  // The store may be older than a change of keys. Then it does not list the key that signed the mark.
  const marked = trees.signedIn(
    mark.checkpoint,
    own.map(({ publicKey }) => verifierKeyOf(origin, publicKey)),
  )
  if (marked === undefined) {
    return { seq: 1, reason: 'no key of this log has signed the high-water mark', lost: false }
  }
  if (marked.size > head) {
    const reason = `the log ends at seq ${head} but was published up to seq ${marked.size}: the store is an older copy or was cut`
    return { seq: head + 1, reason, lost: true }
  }
  if (trees.holds(marked)) return faultOfPlace(db, mark, head)
  const span = trees.firstWrong() ?? { after: 0, upTo: marked.size }
  return faultOfSpan(span, 'the log is not the one whose checkpoint was published')
}

/** Compares the newest place of the high-water mark with that of the store. Held drafts change without an event. */
function faultOfPlace(db: DatabaseSync, { place }: HighWater, head: number): LogFault | null {
  if (place === undefined) return null
  const own = carriedPlace(db)
  if (own === null) {
    const reason = 'a table carries the log, and the store is a copy from before it was moved there'
    return { seq: head + 1, reason, lost: true }
  }
  if (own >= place) return null
  const reason = `the store ends at place ${own} of its table, and this node had place ${place}: the store is an older copy`
  return { seq: head + 1, reason, lost: true }
}
