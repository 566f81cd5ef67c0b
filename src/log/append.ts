/**
 * The room `log` is the log itself: one store with the events, the rows that follow from them, the hash tree and its
 * signatures, and the months of the archive. It may import `protocol` and `tlog`, and `project` to keep its totals in
 * the same commit. Begin to read here, with the only writer. `open-reader.ts` is the reading half: a snapshot up to one
 * head. The tables are in `store/store-schema.ts`, the rows of totals, contests and prizes in `books`, the tree in
 * `tree`.
 */
import type { DatabaseSync } from 'node:sqlite'
import type { Head } from '../project/fold/books.ts'
import { apply, type Fold, openFold, type Repository, undone, withoutChanges } from '../project/fold/fold.ts'
import { activityOf, activityOfTotals, beginsChunk } from '../project/fold/prefix.ts'
import { copyTally, type Tally } from '../project/fold/tally.ts'
import {
  advance,
  decodeActivity,
  encodeActivity,
  nextQuarter,
  NO_WEEK,
  type WeekBuilder,
  weekOf,
} from '../project/fold/week-sums.ts'
import { assert } from '../protocol/brand.ts'
import { formatDetailsLine } from '../protocol/details.ts'
import type { Draft } from '../protocol/draft.ts'
import { type DaybookEvent, type Entry, formatEvent } from '../protocol/event.ts'
import { boundOf, later, type Ms, QUARTER_MS, WEEK_MS } from '../protocol/moment.ts'
import { nextSeq, type Seq, seqOf } from '../protocol/seq.ts'
import { openArchiveWriter, type SegmentOf } from './archive/archive-writer.ts'
import { type BlockEnd, LIST_EVENTS } from './books/contest-list.ts'
import { noRows, openRowWriter, type WaitingRows } from './books/row-writer.ts'
import { openPrefixReader, type PrefixReader } from './books/prefix-reader.ts'
import { bytes, number } from './store/codec.ts'
import { openStoredRepository } from './books/stored-repository.ts'
import type { Signer } from './tree/signer.ts'
import { type Chunk, encodeTotalsRow, nextChunk } from './books/totals-rows.ts'
import { openTreeWriter } from './tree/tree-writer.ts'

/** The operator's ref of a draft and the digest of its content; null in an import without refs. */
type DraftRef = Readonly<{ ref: string; digest: Uint8Array }> | null

/** The log's only writer. A batch is appended draft by draft, then written or discarded as a whole. */
export type Appender = Readonly<{
  /** The fold of everything appended so far, for checks before the next draft. */
  fold(): Fold
  /** Seq and moment of the last appended event, which may be uncommitted; 0 and null before the first. */
  head(): Head
  /** Seq and digest of the draft that was appended with this ref. */
  published(ref: string): Readonly<{ seq: Seq; digest: Uint8Array }> | undefined
  /** Appends a draft as an event with the next seq. Its `at` is the later of `atMs` and the last event's `at`. */
  append(draft: Draft, ref: DraftRef, atMs: Ms): DaybookEvent
  /** Appends the next event of another node, with its lines byte for byte. */
  follow(entry: Entry, lines: EntryLines, ref: DraftRef): void
  /** Writes the batch to the store, inside the transaction that `begin` opened. */
  write(): void
  /** Discards the batch. Earlier written batches stay. */
  forget(): void
  begin(): void
  /** Makes all written batches durable and visible at once. They are on the disk when this returns. */
  commit(): Head
  /** The newest note that this appender has signed. Throws before its first commit of events, and after a rollback. */
  checkpoint(): string
  /** Undoes everything since `begin`. */
  rollback(): void
}>

/** Line of an event and its details line, which is null without details. */
type EntryLines = Readonly<{ line: string; detailsLine: string | null }>

/** Everything in memory that a batch changes before it is written. */
type State = Readonly<{
  fold: Fold
  head: Head
  chunk: Chunk | null
  weeks: WeekBuilder
  /** Contests that the batch changed, as of its last end of a block in the list of contests. */
  blockEnd: BlockEnd | null
}>

/** Parts of an appender that an upgrade or a benchmark replaces. */
type AppenderParts = Readonly<{ openTree?: typeof openTreeWriter; segmentOf?: SegmentOf }>

/** Opens the log for its only writer, which signs the tree at each commit. */
export function openAppender(db: DatabaseSync, signer: Signer, parts: AppenderParts = {}): Appender {
  const repository = openStoredRepository(db)
  const prefix = openPrefixReader(db)
  const archive = openArchiveWriter(db, signer, parts.segmentOf)
  const rowWriter = openRowWriter(db)
  const refs = db.prepare('SELECT seq, digest FROM refs WHERE ref = ?')
  const load = (): State => loadState(db, prefix, repository.repository)
  /** The state as it was last written, that of the batch, and the rows of the batch. */
  let written = load()
  let state = withOwnTally(written)
  let rows = noRows()
  const tree = (parts.openTree ?? openTreeWriter)(db, signer, written.head.seq)

  /** Appends the next entry. Its rows wait to be written. */
  function add(entry: Entry, { line, detailsLine }: EntryLines, ref: DraftRef): void {
    const { event } = entry
    const { seq, atMs } = event
    const { fold } = state
    const chunk = reachChunk(state, event, rows)
    const weeks = reachWeek(state.weeks, atMs, fold.tally, rows)
    apply(fold, entry)
    archive.add(event, tree.root)
    const { leaf, completed, signature } = tree.add(line, detailsLine)
    rows.events.push({ event, line, leaf, signature })
    for (const hash of completed) rows.treeHashes.push(hash)
    if (detailsLine !== null) rows.details.push([seq, detailsLine])
    if (ref !== null) rows.refs.set(ref.ref, { seq, digest: ref.digest })
    const blockEnd = seq % LIST_EVENTS === 0 ? new Map(fold.changes.contests) : state.blockEnd
    state = { fold, head: { seq, atMs }, chunk, weeks, blockEnd }
  }

  return {
    fold: () => state.fold,
    head: () => state.head,
    published(ref) {
      const row = rows.refs.get(ref) ?? refs.get(ref)
      return row === undefined ? undefined : { seq: seqOf(number(row, 'seq')), digest: bytes(row, 'digest') }
    },
    append({ type, kind, contestId, kots, tx, details }, ref, atMs) {
      const { head } = state
      const at = head.atMs === null ? atMs : later(atMs, head.atMs)
      const event = { seq: nextSeq(head.seq), type, kind, atMs: at, contestId, kots, tx }
      const detailsLine = details === null ? null : formatDetailsLine(event.seq, details)
      add({ event, details }, { line: formatEvent(event), detailsLine }, ref)
      return event
    },
    follow(entry, lines, ref) {
      const { seq, atMs } = state.head
      const { event } = entry
      assert(event.seq === seq + 1 && event.atMs >= (atMs ?? 0), `seq ${event.seq} follows seq ${seq}`)
      add(entry, lines, ref)
    },
    write() {
      rowWriter.write(rows)
      rows = noRows()
      archive.flush()
      repository.put(state.fold.changes, state.head, state.blockEnd)
      state = { ...state, fold: withoutChanges(state.fold), blockEnd: null }
      written = withOwnTally(state)
      tree.written()
    },
    forget() {
      rows = noRows()
      archive.forget()
      tree.forget()
      state = withOwnTally({ ...written, fold: undone(state.fold, written.fold.tally) })
    },
    begin: () => db.exec('BEGIN IMMEDIATE'),
    commit() {
      assert(rows.events.length === 0, `events up to ${state.head.seq} were not written before the commit`)
      repository.flush()
      tree.sign(state.head.seq)
      db.exec('COMMIT')
      return state.head
    },
    checkpoint: tree.checkpoint,
    rollback() {
      if (db.isTransaction) db.exec('ROLLBACK')
      repository.forget()
      archive.reload()
      rowWriter.reload()
      rows = noRows()
      written = load()
      state = withOwnTally(written)
      tree.reload(written.head.seq)
    },
  }
}

/** Copies the tally, so that `forget` can return to the former one. The fold changes it in place. */
function withOwnTally(state: State): State {
  return { ...state, fold: { ...state.fold, tally: copyTally(state.fold.tally) } }
}

function loadState(db: DatabaseSync, prefix: PrefixReader, repository: Repository): State {
  const head = prefix.head()
  return {
    fold: openFold(copyTally(prefix.newest()), repository),
    head,
    chunk: prefix.newestChunk(),
    weeks: loadWeeks(db, prefix),
    blockEnd: null,
  }
}

/** Chunk of the next event. Writes the chunk's row at its first event. */
function reachChunk({ chunk, fold, head }: State, { seq, atMs }: DaybookEvent, rows: WaitingRows): Chunk {
  if (chunk !== null && !beginsChunk(head.atMs, seq - chunk.seq, atMs)) return chunk
  const id = nextChunk(chunk?.id ?? null, atMs)
  rows.totals.push({ id, atMs, ...encodeTotalsRow(seq, fold.tally) })
  return { id, seq }
}

/** Adds the activity of each quarter of an hour up to `at`. Writes the rows of a week when it ends. */
function reachWeek(weeks: WeekBuilder, at: Ms, tally: Tally, rows: WaitingRows): WeekBuilder {
  if (at < nextQuarter(weeks) && weeks.week !== null) return weeks
  const { builder, ended } = advance(weeks, at, activityOf(tally))
  const kinds = [...tally.byKind.spentOnPlay.keys()]
  for (const [index, row] of ended?.rows.entries() ?? []) {
    rows.weeks.push([boundOf((ended?.week ?? 0) + index * QUARTER_MS), encodeActivity(row, kinds)])
  }
  return builder
}

/** Sums of the current week so far, from the prefix totals: at most 672 look-ups at start. */
function loadWeeks(db: DatabaseSync, prefix: PrefixReader): WeekBuilder {
  const { atMs } = prefix.head()
  if (atMs === null) return NO_WEEK
  const week = weekOf(atMs)
  const quarters = Math.floor((atMs - week) / QUARTER_MS) + 1
  const reached = Array.from({ length: quarters }, (_, index) =>
    activityOfTotals(prefix.totalsBefore(boundOf(week + index * QUARTER_MS)).totals),
  )
  const lastWeek = prefix.weekRepository.weekWithRows(boundOf(week - WEEK_MS))
  if (lastWeek === undefined) return { week, reached, last: null }
  const kinds = prefix.kinds('spentOnPlay')
  const rows = db
    .prepare('SELECT row FROM week_sums WHERE q >= ? AND q < ? ORDER BY q')
    .all(lastWeek, lastWeek + WEEK_MS)
    .map((row) => decodeActivity(bytes(row, 'row'), kinds))
  return { week, reached, last: { week: lastWeek, rows } }
}
