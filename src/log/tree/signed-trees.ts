import type { DatabaseSync } from 'node:sqlite'
import { parseCheckpoint } from '../../tlog/checkpoint.ts'
import { isSame } from '../../tlog/hash.ts'
import { parseNote, type VerifierKey } from '../../tlog/note.ts'
import type { LogIdentity } from '../store/reader.ts'
import { isMadeWith, isSigned, isSignedNote, type Signer } from './signer.ts'
import { readVerifiers } from './signing-keys.ts'
import { isPassingFault } from '../store/sqlite-error.ts'
import { readIdentity } from '../store/store.ts'
import { openStoredTree, type StoredTree } from './stored-tree.ts'
import type { Tree } from '../../tlog/proof.ts'

/** Comparison of the log's signatures with its stored hashes. */
type SignedTrees = Readonly<{
  /** Whether the store has a valid signature of the tree of this size. */
  isSignedAt(size: number): boolean
  /** Whether this tree is a prefix of the stored one. */
  holds(tree: Tree): boolean
  /** The tree of a note; undefined unless keys of the log, or `more` keys, signed it. */
  signedIn(note: string, more: readonly VerifierKey[]): Tree | undefined
  /**
   * First span of seqs whose stored hashes differ from the signed ones; null when there is none. Bisects the
   * signatures, so about twenty are verified in a long log.
   */
  firstWrong(): SeqSpan | null
  /**
   * First wrong span within a span that is known to be wrong. Returns the whole span when it has no signature inside.
   */
  firstWrongWithin(stretch: SeqSpan): SeqSpan
  /** Last seq with a signature, valid or not: the end of a commit or of a month. */
  lastSigned(): number
}>

/** Seqs after `after`, up to `upTo`. */
export type SeqSpan = Readonly<{ after: number; upTo: number }>

/** Opens the comparison. With `own` keys, a valid signature must have a part by one of them. */
export function openSignedTrees(db: DatabaseSync, own: readonly VerifierKey[] | null = null): SignedTrees {
  const identity = readIdentity(db)
  const keys = readVerifiers(db)
  const tree = openStoredTree(db)
  const { signatureOf, newestSigned, oldestSigned } = openSignatures(db)

  function isSignedAt(size: number): boolean {
    const bytes = signatureOf(size)
    const stored = tryRead(() => tree.at(size))
    return (
      stored !== undefined &&
      bytes instanceof Uint8Array &&
      (own === null || isMadeWith(bytes, own)) &&
      isSignedIn(identity, stored, bytes, keys)
    )
  }

  /** Bisects between a signed size that is right and one that is wrong. */
  function narrowed(right: number, wrong: number): SeqSpan {
    let [low, high] = [right, wrong]
    for (;;) {
      const middle = Math.floor((low + high) / 2)
      const next = newestSigned(low, middle) || (oldestSigned(middle) ?? high)
      if (next >= high) return { after: low, upTo: high }
      if (isSignedAt(next)) low = next
      else high = next
    }
  }

  function isSignedMonth(checkpoint: string | null, size: number): boolean {
    const signed = checkpoint === null ? undefined : signedIn(checkpoint, keys)
    return signed?.size === size && isStored(tree, signed)
  }

  return {
    isSignedAt,
    firstWrongWithin({ after, upTo }) {
      const inside = newestSigned(after, upTo - 1)
      if (inside === 0) return { after, upTo }
      return isSignedAt(inside) ? { after: inside, upTo } : narrowed(after, inside)
    },
    holds: (signed) => isStored(tree, signed),
    signedIn: (note, more) => signedIn(note, [...keys, ...more]),
    firstWrong() {
      let right = 0
      for (const { size, checkpoint } of monthEnds(db)) {
        const end = size ?? right
        if (!isSignedMonth(checkpoint, end)) {
          return end > right ? narrowed(right, end) : { after: end - 1, upTo: end }
        }
        right = end
      }
      const head = newestSigned(0, Number.MAX_SAFE_INTEGER)
      return head <= right || isSignedAt(head) ? null : narrowed(right, head)
    },
    lastSigned() {
      const months = monthEnds(db).map(({ size }) => size ?? 0)
      return Math.max(newestSigned(0, Number.MAX_SAFE_INTEGER), ...months)
    },
  }
}

type Signatures = Readonly<{
  signatureOf(size: number): unknown
  /** Largest signed size above `after` and up to `upTo`; 0 when there is none. */
  newestSigned(after: number, upTo: number): number
  oldestSigned(after: number): number | undefined
}>

function openSignatures(db: DatabaseSync): Signatures {
  const signature = db.prepare('SELECT signature FROM events WHERE seq = ?')
  const newest = db.prepare(
    'SELECT seq FROM events WHERE signature IS NOT NULL AND seq > ? AND seq <= ? ORDER BY seq DESC LIMIT 1',
  )
  const oldest = db.prepare(
    'SELECT seq FROM events WHERE signature IS NOT NULL AND seq > ? ORDER BY seq LIMIT 1',
  )
  return {
    signatureOf: (size) => signature.get(size)?.['signature'],
    newestSigned: (after, upTo) => Number(newest.get(after, upTo)?.['seq'] ?? 0),
    oldestSigned(after) {
      const seq = oldest.get(after)?.['seq']
      return typeof seq === 'number' ? seq : undefined
    },
  }
}

type MonthEnd = Readonly<{ size: number | null; checkpoint: string | null }>

/** Ends of closed months. The checkpoint is null when the manifest is damaged, the size when a month has no event. */
function monthEnds(db: DatabaseSync): readonly MonthEnd[] {
  const rows = db
    .prepare(
      `SELECT last_seq AS size, iif(json_valid(manifest), json_extract(manifest, '$.checkpoint'), NULL) AS checkpoint
       FROM months WHERE closed = 1 ORDER BY month`,
    )
    .all()
  return rows.map(({ size, checkpoint }) => ({
    size: typeof size === 'number' ? size : null,
    checkpoint: typeof checkpoint === 'string' ? checkpoint : null,
  }))
}

/**
 * Whether a stored signature of a tree is valid, under the origin of the log at that size or under the current one. A
 * node that joins signs trees of the current log in the middle of a former one.
 */
export function isSignedIn(
  { origin, former }: LogIdentity,
  tree: Tree,
  signature: Uint8Array,
  keys: readonly VerifierKey[],
): boolean {
  const then = former.find((log) => tree.size < log.size)?.origin ?? origin
  if (isSigned(then, tree, signature, keys)) return true
  return then !== origin && isSigned(origin, tree, signature, keys)
}

function isStored(stored: StoredTree, { size, root }: Tree): boolean {
  const tree = tryRead(() => stored.at(size))
  return tree !== undefined && isSame(tree.root, root)
}

/** The tree of a note that these keys signed. */
function signedIn(note: string, keys: readonly VerifierKey[]): Tree | undefined {
  const parsed = parseNote(Buffer.from(note))
  return parsed.ok && isSignedNote(parsed.value, keys) ? parseCheckpoint(parsed.value.text) : undefined
}

/**
 * Signer without a key, for a store that is recomputed and compared with `db`. At the end of a month it returns the
 * note of `db` if that note signs the same tree, and otherwise an empty one.
 */
export function openStoredSigner(db: DatabaseSync): Signer {
  const keys = readVerifiers(db)
  const notes = new Map<number, string>()
  let end = 0
  for (const { size, checkpoint } of monthEnds(db)) {
    end = size ?? end
    if (checkpoint !== null) notes.set(end, checkpoint)
  }
  return {
    sign({ size, root }) {
      const note = notes.get(size) ?? ''
      const checkpoint = signedIn(note, keys)
      const isRight = checkpoint?.size === size && isSame(checkpoint.root, root)
      return { signature: new Uint8Array(0), note: isRight ? note : '' }
    },
  }
}

/** Reads from a store that may be damaged; undefined when reading throws. Throws temporary faults. */
export function tryRead<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (isPassingFault(error)) throw error
    return undefined
  }
}
