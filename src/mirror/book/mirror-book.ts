import type { DatabaseSync } from 'node:sqlite'
import { isDeepStrictEqual } from 'node:util'
import { base64 } from '@scure/base'
import { type Appender, openAppender } from '../../log/append.ts'
import { text } from '../../log/store/codec.ts'
import type { MonthFile } from '../../log/store/reader.ts'
import { isOfMachine } from '../../log/store/sqlite-error.ts'
import { openStoredTree } from '../../log/tree/stored-tree.ts'
import type { Signer } from '../../log/tree/signer.ts'
import { openTreeWriter, type TreeWriter } from '../../log/tree/tree-writer.ts'
import type { Head } from '../../project/fold/books.ts'
import type { Fold } from '../../project/fold/fold.ts'
import { assert } from '../../protocol/brand.ts'
import { boundOf, type Month, monthOf, nextMonth } from '../../protocol/moment.ts'
import { nextSeq } from '../../protocol/seq.ts'
import { type Hash, isSame } from '../../tlog/hash.ts'
import type { ExpectedNext } from '../../verify/reading/entry-lines.ts'
import { WrongError } from '../../verify/reading/finding.ts'
import type { JsonObject } from '../../verify/reading/json-values.ts'
import type { ClosedMonth } from '../months/origin-months.ts'
import type { MonthFiles, MonthSegment } from '../months/file-entries.ts'
import type { ProvenTree } from '../proof/proven-tree.ts'
import type { MirrorEntry } from '../proof/mirror-entry.ts'
import { openServedPieces, replaceSealed } from './served-pieces.ts'
import { formatCount } from '../../protocol/amount.ts'
import type { Tree } from '../../tlog/proof.ts'

/** Error for a computed tree or month that differs from the one that the origin signed or published. */
export class MismatchError extends Error {
  override readonly name = 'MismatchError'
}

/**
 * Error for a closed month that has the signed events but other bytes in its files or manifest than the published ones.
 */
export class ManifestError extends MismatchError {
  readonly month: Month

  constructor(month: Month) {
    super(`${month} is not the month of its manifest`)
    this.month = month
  }
}

/** Error for an event that this Daybook cannot apply. A newer one may. */
export class UnknownEventError extends Error {
  override readonly name = 'UnknownEventError'
}

/** Store of a mirror, to which only proved trees are committed. All calls but `tree` change it. */
export type MirrorBook = Readonly<{
  head(): Head
  fold(): Fold
  /** Seq of the next entry, and its earliest possible moment. */
  next(): ExpectedNext
  /** Root of the tree up to the last applied entry. */
  root(): Hash
  /** The stored tree of a size up to the head. */
  treeAt(size: number): Tree
  /** Months whose end `closeWith` must get before an entry of this moment can be applied. */
  monthsBefore(month: Month): readonly Month[]
  /** Sets the signed end of a closed month. */
  closeWith(closed: ClosedMonth): void
  /** Adds a segment of the origin's file, which the archive stores if it has the same lines. */
  addPiece(month: Month, file: MonthFile, piece: MonthSegment): void
  /**
   * Replaces the stored segments of a month's files by the published ones, in a transaction of its own. Further
   * segments are stored when their lines are applied. Throws a `WrongError` for a file that is no archive file, and a
   * `MismatchError` for other lines.
   */
  serveMonth(files: MonthFiles): void
  begin(): void
  /** Appends the entry. Throws a `WrongError` or an `UnknownEventError` when it cannot be applied. */
  take(entry: MirrorEntry): void
  /** Writes the appended entries. Throws a `MismatchError` when a month does not end as the origin published it. */
  keep(): void
  /** Commits everything as this tree, with its signature. Throws a `MismatchError` when it is another tree. */
  commit(tree: ProvenTree): Head
  /** Commits without a signature, while nobody reads the store. */
  commitUnsigned(): void
  rollback(): void
  /** Replaces the signature of the head's tree, after a change of keys. Must be called in a transaction of the caller. */
  signAgain(tree: ProvenTree): void
}>

/** Opens the book of a mirror's store for its only writer. */
export function openMirrorBook(db: DatabaseSync): MirrorBook {
  const pieces = openServedPieces()
  const ends = openMonthEnds(db)
  const checked = openCheckedTree()
  const signer: Signer = { sign: (made) => sameTree(ends.endAt(made.size) ?? checked.proved, made) }
  const appender = openAppender(db, signer, { segmentOf: pieces.segmentOf, openTree: checked.open })
  const signAgain = openSignatures(db)

  function rollback(): void {
    appender.rollback()
    pieces.clear()
    ends.clear()
  }

  return {
    head: appender.head,
    fold: appender.fold,
    root: checked.root,
    next() {
      const { seq, atMs } = appender.head()
      return { seq: nextSeq(seq), notBefore: atMs ?? boundOf(0) }
    },
    treeAt: (size) => openStoredTree(db).at(size),
    monthsBefore: (month) => ends.missingBefore(appender.head(), month),
    closeWith: ends.add,
    addPiece: pieces.add,
    serveMonth(files) {
      const { atMs } = appender.head()
      // An earlier commit has closed it.
      if (atMs !== null && monthOf(atMs) > files.month) return
      appender.begin()
      try {
        const hasSameLines = replaceSealed(db, files, (file, piece) => pieces.add(files.month, file, piece))
        if (!hasSameLines)
          throw new MismatchError(`the files of ${files.month} hold other events than the mirror`)
        db.exec('COMMIT')
        // Reads the store again: no transaction is open.
        appender.rollback()
      } catch (error) {
        rollback()
        throw error
      }
    },
    begin: appender.begin,
    take(entry) {
      checked.current = entry
      append(appender, entry)
    },
    keep() {
      appender.write()
      pieces.forgetStored(appender.head().seq)
      ends.check()
    },
    commit(tree) {
      sameTree(tree, { size: appender.head().seq, root: checked.root() })
      checked.proved = tree
      try {
        signAgain(tree)
        return appender.commit()
      } finally {
        checked.proved = null
      }
    },
    commitUnsigned: () => void appender.commit(),
    rollback,
    signAgain,
  }
}

/** Tree of the origin's lines. It has the log's own signature, or none. */
type CheckedTree = {
  /** The entry that is appended. */
  current: MirrorEntry | null
  /** Signed tree of the current commit; null in a commit without signature. */
  proved: ProvenTree | null
  readonly open: typeof openTreeWriter
  readonly root: () => Hash
}

function openCheckedTree(): CheckedTree {
  let tree: TreeWriter | null = null
  const checked: CheckedTree = {
    current: null,
    proved: null,
    open(...own) {
      const opened = openTreeWriter(...own)
      tree = opened
      return {
        ...opened,
        add(line, details) {
          const { current } = checked
          if (line !== current?.line || details !== current.detailsLine) throw unknown(current)
          return opened.add(line, details)
        },
        sign: (size) => (checked.proved === null ? undefined : opened.sign(size)),
      }
    },
    root: () => {
      assert(tree !== null, 'the appender has opened its tree')
      return tree.root()
    },
  }
  return checked
}

/** Signed tree, if it equals the computed one. Throws a `MismatchError` otherwise. */
function sameTree(signed: ProvenTree | null, { size, root }: Tree): ProvenTree {
  if (signed?.size === size && isSame(signed.root, root)) return signed
  throw new MismatchError(
    `the tree of the first ${formatCount(size, 'event')} is not the one that the log signed`,
  )
}

function append(appender: Appender, { event, details }: MirrorEntry): void {
  try {
    // The books read the store meanwhile.
    appender.append({ ref: null, ...event, details }, null, event.atMs)
  } catch (cause) {
    if (cause instanceof UnknownEventError || isOfMachine(cause)) throw cause
    throw new WrongError(`seq ${event.seq}`, 'is an event that the books refuse', { cause })
  }
}

/** Opens the statements that write the signature of a tree. */
function openSignatures(db: DatabaseSync): MirrorBook['signAgain'] {
  const head = db.prepare('UPDATE events SET signature = ? WHERE seq = ?')
  const empty = db.prepare("INSERT OR REPLACE INTO meta VALUES ('empty_signature', ?)")
  return ({ size, signature }) => {
    if (size === 0) empty.run(base64.encode(signature))
    else head.run(signature, size)
  }
}

/** Signed ends of months that are to be closed. */
type MonthEnds = Readonly<{
  add(closed: ClosedMonth): void
  /** Signed tree of this size; null when no month ends there. */
  endAt(size: number): ProvenTree | null
  missingBefore(head: Head, month: Month): readonly Month[]
  /** Compares closed months of the store with their published manifests, and then drops them. */
  check(): void
  clear(): void
}>

function openMonthEnds(db: DatabaseSync): MonthEnds {
  const ends = new Map<Month, ClosedMonth>()
  const manifestOf = db.prepare('SELECT manifest FROM months WHERE month = ? AND closed = 1')
  return {
    add: (closed) => void ends.set(closed.manifest.month, closed),
    endAt: (size) => [...ends.values()].find(({ end }) => end.size === size)?.end ?? null,
    missingBefore({ atMs }, month) {
      const missing: Month[] = []
      for (let at = atMs === null ? month : monthOf(atMs); at < month; at = nextMonth(at)) {
        if (!ends.has(at)) missing.push(at)
      }
      return missing
    },
    check() {
      for (const [month, { served }] of ends) {
        const row = manifestOf.get(month)
        if (row === undefined) continue
        ends.delete(month)
        const own: JsonObject = JSON.parse(text(row, 'manifest'))
        // A newer origin may have further fields.
        const isEqual = Object.keys(own).every((name) => isDeepStrictEqual(own[name], served[name]))
        if (!isEqual) throw new ManifestError(month)
      }
    },
    clear: () => ends.clear(),
  }
}

function unknown(entry: MirrorEntry | null): UnknownEventError {
  return new UnknownEventError(
    `seq ${entry?.event.seq ?? 0} has details that this Daybook does not know: install a newer one, which continues`,
  )
}
