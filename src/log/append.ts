import type { DatabaseSync } from 'node:sqlite'
import type { Head } from '../project/fold/books.ts'
import type { Fold, Shelf } from '../project/fold/fold.ts'
import { apply, openFold, settled } from '../project/fold/fold.ts'
import { activityOf, activityOfTotals, beginsChunk } from '../project/fold/prefix.ts'
import type { Tally } from '../project/fold/tally.ts'
import { copyTally } from '../project/fold/tally.ts'
import type { WeekBuilder } from '../project/fold/week-builder.ts'
import { advance, nextQuarter, NO_WEEK } from '../project/fold/week-builder.ts'
import { decodeActivity, encodeActivity, weekOf } from '../project/fold/week-sums.ts'
import { assert } from '../protocol/brand.ts'
import { formatDetailsLine } from '../protocol/details.ts'
import type { Draft } from '../protocol/draft.ts'
import type { DaybookEvent, Entry } from '../protocol/event.ts'
import { formatEvent } from '../protocol/event.ts'
import type { Ms } from '../protocol/moment.ts'
import { boundOf, later, QUARTER_MS, WEEK_MS } from '../protocol/moment.ts'
import type { Seq } from '../protocol/seq.ts'
import { nextSeq, seqOf } from '../protocol/seq.ts'
import { openArchiveWriter } from './archive/archive-writer.ts'
import type { Inserts } from './books/inserts.ts'
import { openInserts } from './books/inserts.ts'
import type { PrefixReader } from './books/prefix-reader.ts'
import { openPrefixReader } from './books/prefix-reader.ts'
import { bytes, number } from './store/codec.ts'
import { openStoreShelf } from './books/shelf.ts'
import type { Signer } from './tree/signer.ts'
import type { Chunk } from './books/totals-rows.ts'
import { encodeTotalsRow, nextChunk } from './books/totals-rows.ts'
import type { TreeWriter } from './tree/tree-writer.ts'
import { openTreeWriter } from './tree/tree-writer.ts'

/** What `append` keeps beside the event: the ref and the digest of its content, null in an import without ref. */
export type Named = Readonly<{ ref: string; digest: Uint8Array }> | null

/** The book's one writer. A batch is appended draft by draft, then kept whole or dropped whole. */
export type Appender = Readonly<{
  /** The books with everything appended so far, for checks before the next draft. */
  fold(): Fold
  /** The last event appended, kept or not. */
  head(): Head
  /** The seq under which a draft of this ref was published, with its digest. */
  published(ref: string): Readonly<{ seq: Seq; digest: Uint8Array }> | undefined
  /** Makes the draft an event: the next seq, and `at` = the later of `atMs` and the last event's. */
  append(draft: Draft, named: Named, atMs: Ms): DaybookEvent
  /** Writes the batch to the store, inside the transaction that `begin` opened. */
  keep(): void
  /** Forgets the batch; what was kept before stays. */
  drop(): void
  begin(): void
  /** Makes everything kept durable and visible at once: it is on the disk when this returns. */
  commit(): Head
  /** The signed note of the tree up to the last commit of this appender; it has made one. */
  checkpoint(): string
  /** Undoes everything since `begin`. */
  rollback(): void
}>

/** All that an appended and not yet kept batch changes in memory. */
type State = Readonly<{ fold: Fold; head: Head; chunk: Chunk | null; weeks: WeekBuilder }>

type Trees = typeof openTreeWriter

/**
 * Opens the log for its one writer, which signs every tree that it makes visible. Another `openTree` is for measuring
 * what the tree costs.
 */
export function openAppender(db: DatabaseSync, signer: Signer, openTree: Trees = openTreeWriter): Appender {
  const shelf = openStoreShelf(db)
  const prefix = openPrefixReader(db)
  const archive = openArchiveWriter(db, signer)
  const inserts = openInserts(db)
  const load = (): State => loadState(db, prefix, shelf.shelf)
  let kept = load()
  let state = withOwnTally(kept)
  const tree = openTree(db, signer, kept.head.seq)

  function append(draft: Draft, named: Named, atMs: Ms): DaybookEvent {
    const { fold, head } = state
    const { type, kind, contestId, kots, tx, details } = draft
    const at = head.atMs === null ? atMs : later(atMs, head.atMs)
    const event = { seq: nextSeq(head.seq), type, kind, atMs: at, contestId, kots, tx }
    const chunk = reachChunk(state, event, inserts)
    const weeks = reachWeek(state.weeks, at, fold.tally, inserts)
    apply(fold, { event, details })
    archive.add(event, tree.root)
    insertEntry({ event, details }, named, tree, inserts)
    state = { fold, head: { seq: event.seq, atMs: at }, chunk, weeks }
    return event
  }

  function keep(): void {
    inserts.write()
    archive.flush()
    shelf.put(state.fold.changes, state.head.atMs)
    state = { ...state, fold: settled(state.fold) }
    kept = withOwnTally(state)
    tree.keep()
  }

  function drop(): void {
    inserts.forget()
    archive.drop()
    tree.drop()
    // Lot books were changed in place: they are read again.
    state = withOwnTally({ ...kept, fold: openFold(kept.fold.tally, shelf.shelf) })
  }

  return {
    fold: () => state.fold,
    head: () => state.head,
    published: openPublished(db, inserts),
    append,
    keep,
    drop,
    begin: () => db.exec('BEGIN IMMEDIATE'),
    commit() {
      assert(inserts.isEmpty(), `events up to ${state.head.seq} were appended and not kept at the commit`)
      shelf.flush()
      tree.sign(state.head.seq)
      db.exec('COMMIT')
      return state.head
    },
    checkpoint: tree.checkpoint,
    rollback() {
      if (db.isTransaction) db.exec('ROLLBACK')
      shelf.forget()
      archive.reload()
      inserts.reload()
      kept = load()
      state = withOwnTally(kept)
      tree.reload(kept.head.seq)
    },
  }
}

/** Makes the lines and the leaf of an entry, once and for ever. */
function insertEntry({ event, details }: Entry, named: Named, tree: TreeWriter, inserts: Inserts): void {
  const line = formatEvent(event)
  const detailsLine = details === null ? null : formatDetailsLine(event.seq, details)
  const { leaf, completed } = tree.add(line, detailsLine)
  inserts.event(event, line, leaf)
  for (const hash of completed) inserts.treeHash(hash)
  if (detailsLine !== null) inserts.details(event.seq, detailsLine)
  if (named !== null) inserts.ref(event.seq, named.ref, named.digest)
}

/** Looks a ref up, in the batch first and then in the store. */
function openPublished(db: DatabaseSync, inserts: Inserts): Appender['published'] {
  const refs = db.prepare('SELECT seq, digest FROM refs WHERE ref = ?')
  return (ref) => {
    const row = inserts.refInBatch(ref) ?? refs.get(ref)
    return row === undefined ? undefined : { seq: seqOf(number(row, 'seq')), digest: bytes(row, 'digest') }
  }
}

/** The fold changes its tally in place, so what is kept for `drop` must not share it. */
function withOwnTally(state: State): State {
  return { ...state, fold: { ...state.fold, tally: copyTally(state.fold.tally) } }
}

function loadState(db: DatabaseSync, prefix: PrefixReader, shelf: Shelf): State {
  const head = prefix.head()
  return {
    fold: openFold(copyTally(prefix.newest()), shelf),
    head,
    chunk: prefix.newestChunk(),
    weeks: loadWeeks(db, prefix),
  }
}

/** The chunk of an event that is about to be counted; its row is written when the event begins it. */
function reachChunk({ chunk, fold, head }: State, { seq, atMs }: DaybookEvent, inserts: Inserts): Chunk {
  if (chunk !== null && !beginsChunk(head.atMs, seq - chunk.seq, atMs)) return chunk
  const id = nextChunk(chunk?.id ?? null, atMs)
  inserts.totals(id, atMs, encodeTotalsRow(seq, fold.tally))
  return { id, seq }
}

/** Notes the activity before each quarter of an hour that `at` has reached; writes a week's rows when it ends. */
function reachWeek(weeks: WeekBuilder, at: Ms, tally: Tally, inserts: Inserts): WeekBuilder {
  if (at < nextQuarter(weeks) && weeks.week !== null) return weeks
  const { builder, ended } = advance(weeks, at, activityOf(tally))
  const kinds = [...tally.spentByKind.keys()]
  for (const [index, row] of ended?.rows.entries() ?? []) {
    inserts.week(boundOf((ended?.week ?? 0) + index * QUARTER_MS), encodeActivity(row, kinds))
  }
  return builder
}

/** What the present week has reached, out of the prefix totals: at most 672 look-ups at a start. */
function loadWeeks(db: DatabaseSync, prefix: PrefixReader): WeekBuilder {
  const { atMs } = prefix.head()
  if (atMs === null) return NO_WEEK
  const week = weekOf(atMs)
  const quarters = Math.floor((atMs - week) / QUARTER_MS) + 1
  const reached = Array.from({ length: quarters }, (_, index) =>
    activityOfTotals(prefix.totalsBefore(boundOf(week + index * QUARTER_MS)).totals),
  )
  const lastWeek = prefix.weekShelf.weekWithRows(boundOf(week - WEEK_MS))
  if (lastWeek === undefined) return { week, reached, last: null }
  const kinds = prefix.playKinds()
  const rows = db
    .prepare('SELECT row FROM week_sums WHERE q >= ? AND q < ? ORDER BY q')
    .all(lastWeek, lastWeek + WEEK_MS)
    .map((row) => decodeActivity(bytes(row, 'row'), kinds))
  return { week, reached, last: { week: lastWeek, rows } }
}
