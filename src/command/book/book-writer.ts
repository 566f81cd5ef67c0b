import type { DatabaseSync } from 'node:sqlite'
import type { Head } from '../../project/fold/books.ts'
import { apply, type Fold, openFold, withoutChanges } from '../../project/fold/fold.ts'
import { boundOf, msOf } from '../../protocol/moment.ts'
import { BEFORE_FIRST, nextSeq, seqOf } from '../../protocol/seq.ts'
import { appendLeaf, rootOf } from '../../tlog/frontier.ts'
import { type Hash, treeHasher } from '../../tlog/hash.ts'
import type { ExpectedNext } from '../../verify/reading/entry-lines.ts'
import { WrongError } from '../../verify/reading/finding.ts'
import { leafOf } from '../../verify/reading/month-entries.ts'
import { NODE_PRIMITIVES } from '../terminal/node-primitives.ts'
import { openBookPeriods } from './book-periods.ts'
import { openBookRepository } from './book-repository.ts'
import { type BookEntry, openEntryRows } from './book-rows.ts'
import { openStateRows, readState } from './book-state.ts'

/** Events after which the changes of the fold are written to their tables. */
const BATCH_EVENTS = 4_096

/** Writer of the rows of a book, in the order of the log. It works in the transaction of the caller. */
export type BookWriter = Readonly<{
  /** Number of events in the book, this transaction's included. */
  size(): number
  /** Root of the tree over all rows. */
  root(): Hash
  /** The next seq and its earliest moment. */
  next(): ExpectedNext
  /** Adds the next entry. Throws a `WrongError` when the books cannot post it. */
  add(entry: BookEntry): void
  /** Writes everything that is not written yet, before a commit. */
  settle(): void
}>

const hasher = treeHasher(NODE_PRIMITIVES.sha256)

/** Opens the writer at the last commit of a book. */
export function openBookWriter(db: DatabaseSync): BookWriter {
  const state = readState(db)
  const putState = openStateRows(db)
  const { frontier } = state
  const rows = openEntryRows(db)
  const books = openBookRepository(db, state.loyalty)
  const periods = openBookPeriods(db, state.open, books.openPrizes())
  let fold: Fold = openFold(state.tally, books.repository)
  let head = readHead(db)

  function put(): void {
    books.put(fold.changes)
    periods.put(fold.changes)
    fold = withoutChanges(fold)
  }

  return {
    size: () => frontier.size,
    root: () => rootOf(hasher, frontier),
    next: () => ({ seq: nextSeq(head.seq), notBefore: head.atMs ?? boundOf(0) }),
    add(entry) {
      const { seq, atMs } = entry.event
      const now: Head = { seq, atMs }
      if (periods.isOver(atMs)) {
        put()
        periods.close(now, fold.tally)
      }
      rows(entry)
      try {
        apply(fold, entry)
      } catch (cause) {
        throw new WrongError(`seq ${seq}`, 'cannot be posted to the books before it', { cause })
      }
      appendLeaf(hasher, frontier, hasher.leaf(leafOf(seq, entry.line, entry.detailsLine)))
      head = now
      if (fold.changes.entries.size >= BATCH_EVENTS) put()
    },
    settle() {
      put()
      periods.writeOpen(head, fold.tally)
      const now = { frontier, tally: fold.tally, loyalty: books.loyalty(), open: periods.open() }
      putState(now)
    },
  }
}

function readHead(db: DatabaseSync): Head {
  const row = db.prepare('SELECT seq, atMs FROM events ORDER BY seq DESC LIMIT 1').get()
  if (row === undefined) return { seq: BEFORE_FIRST, atMs: null }
  return { seq: seqOf(Number(row['seq'])), atMs: msOf(Number(row['atMs'])) }
}
