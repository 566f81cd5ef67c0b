import type { DatabaseSync } from 'node:sqlite'
import { parseCheckpoint } from '../tlog/checkpoint.ts'
import type { Tree } from '../tlog/consistency.ts'
import { isSame } from '../tlog/hash.ts'
import { parseNote } from '../tlog/note.ts'
import type { VerifierKey } from '../tlog/vkey.ts'
import { number, text } from './codec.ts'
import type { LogIdentity } from './reader.ts'
import type { Signer } from './signer.ts'
import { isSigned, isSignedNote } from './signer.ts'
import { readVerifiers } from './signing-keys.ts'
import { readIdentity } from './store.ts'
import type { StoredTree } from './stored-tree.ts'
import { openStoredTree } from './stored-tree.ts'

/** The trees that the log has signed, held against the hashes that it stores. */
export type SignedTrees = Readonly<{
  /** Whether the store holds a signature of the tree of this size that is right. */
  isSignedAt(size: number): boolean
  /** Whether a note is of the stored tree of its size, and signed by a key of the log. */
  isOurs(note: string): boolean
  /**
   * The first seqs of which the stored hashes are not what was signed: after `after`, up to `upTo`. Null when every
   * signature is right. Signatures are tried by halves, so a whole log takes some twenty of them.
   */
  firstWrong(): Span | null
  /** The same among the signatures of one stretch, tried one by one; all of it when they say nothing. */
  firstWrongWithin(stretch: Span): Span
}>

/** Seqs after `after`, up to `upTo`. */
export type Span = Readonly<{ after: number; upTo: number }>

export function openSignedTrees(db: DatabaseSync): SignedTrees {
  const identity = readIdentity(db)
  const keys = readVerifiers(db)
  const tree = openStoredTree(db)
  const signature = db.prepare('SELECT signature FROM events WHERE seq = ?')
  const newest = db.prepare(
    'SELECT seq FROM events WHERE signature IS NOT NULL AND seq > ? AND seq <= ? ORDER BY seq DESC LIMIT 1',
  )
  const within = db.prepare(
    'SELECT seq FROM events WHERE signature IS NOT NULL AND seq > ? AND seq <= ? ORDER BY seq',
  )
  const oldest = db.prepare('SELECT min(seq) AS seq FROM events WHERE signature IS NOT NULL AND seq > ?')

  function isSignedAt(size: number): boolean {
    const bytes = signature.get(size)?.['signature']
    const stored = stateOf(() => tree.at(size))
    return (
      stored !== undefined &&
      bytes instanceof Uint8Array &&
      isSigned(originAt(identity, size), stored, bytes, keys)
    )
  }

  /** Between a signed size that is right and one that is wrong. */
  function narrowed(right: number, wrong: number): Span {
    let [low, high] = [right, wrong]
    for (;;) {
      const middle = Math.floor((low + high) / 2)
      const below = newest.get(low, middle)?.['seq']
      const next = typeof below === 'number' ? below : Number(oldest.get(middle)?.['seq'] ?? high)
      if (next >= high) return { after: low, upTo: high }
      if (isSignedAt(next)) low = next
      else high = next
    }
  }

  return {
    isSignedAt,
    firstWrongWithin({ after, upTo }) {
      let right = after
      for (const { seq } of within.all(after, upTo)) {
        const size = Number(seq)
        if (!isSignedAt(size)) return { after: right, upTo: size }
        right = size
      }
      return { after: right === upTo ? after : right, upTo }
    },
    isOurs: (note) => isOwnNote(note, tree, keys),
    firstWrong() {
      let right = 0
      for (const { size, checkpoint } of monthEnds(db)) {
        if (!isOwnNote(checkpoint, tree, keys)) return narrowed(right, size)
        right = size
      }
      const head = Number(newest.get(0, Number.MAX_SAFE_INTEGER)?.['seq'] ?? 0)
      return head <= right || isSignedAt(head) ? null : narrowed(right, head)
    },
  }
}

/** The checkpoints in the manifests of closed months. */
function monthEnds(db: DatabaseSync): readonly Readonly<{ size: number; checkpoint: string }>[] {
  const rows = db
    .prepare(
      `SELECT json_extract(manifest, '$.size') AS size, json_extract(manifest, '$.checkpoint') AS checkpoint
       FROM months WHERE closed = 1 ORDER BY month`,
    )
    .all()
  return rows.map((row) => ({ size: number(row, 'size'), checkpoint: text(row, 'checkpoint') }))
}

/** What the log was called when the tree of this size was signed. */
export function originAt({ origin, former }: LogIdentity, size: number): string {
  return former.find((log) => size < log.size)?.origin ?? origin
}

function isOwnNote(note: string, tree: StoredTree, keys: readonly VerifierKey[]): boolean {
  const checkpoint = checkpointIn(note, keys)
  const stored = checkpoint && stateOf(() => tree.at(checkpoint.size))
  return checkpoint !== undefined && stored !== undefined && isSame(stored.root, checkpoint.root)
}

/** The checkpoint of a note that one of the keys signed. */
function checkpointIn(note: string, keys: readonly VerifierKey[]): Tree | undefined {
  const parsed = parseNote(Buffer.from(note))
  return parsed.ok && isSignedNote(parsed.value, keys) ? parseCheckpoint(parsed.value.text) : undefined
}

/**
 * A signer that makes nothing: at the end of a month it gives the note that the store has, if it is of that tree and
 * signed, and else none. Whoever makes a store again compares the two so.
 */
export function openKeptSigner(db: DatabaseSync): Signer {
  const keys = readVerifiers(db)
  const notes = new Map(monthEnds(db).map(({ size, checkpoint }) => [size, checkpoint]))
  return {
    sign({ size, root }) {
      const note = notes.get(size) ?? ''
      const checkpoint = checkpointIn(note, keys)
      const isRight = checkpoint?.size === size && isSame(checkpoint.root, root)
      return { signature: new Uint8Array(0), note: isRight ? note : '' }
    },
  }
}

/** What is read of a store that may be damaged: nothing where it lacks a hash. */
function stateOf<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
