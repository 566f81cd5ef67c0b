import type { DatabaseSync } from 'node:sqlite'
import { base64 } from '@scure/base'
import { assert } from '../../protocol/brand.ts'
import { type Month, monthOf, type Ms, nextMonth, parseMonth } from '../../protocol/moment.ts'
import type { ArchiveManifest } from '../../protocol/endpoints/file-endpoints.ts'
import type { Seq } from '../../protocol/seq.ts'
import type { Hash } from '../../tlog/hash.ts'
import {
  FILE_CODES,
  type LinesOf,
  MONTH_FILES,
  openStoredLines,
  SEGMENT_SEQS,
} from '../store/archive-tables.ts'
import { number, text } from '../store/codec.ts'
import { deflateSegment } from './gzip-member.ts'
import {
  beginMonthFile,
  endMonthFile,
  type OpenMonthFile,
  openSegmentWriter,
  reopenMonthFile,
} from './open-month-file.ts'
import type { MonthFile } from '../store/reader.ts'
import type { Signer } from '../tree/signer.ts'
import type { Tree } from '../../tlog/proof.ts'

/** Writing half of the archive, called in the log's transaction. */
export type ArchiveWriter = Readonly<{
  /** Adds the next event, in order of seq. `rootBefore` returns the root of the tree before this event. */
  add(event: Readonly<{ seq: Seq; atMs: Ms }>, rootBefore: () => Hash): void
  /**
   * Writes the segments and closes the months that ended with the added events. Must be called in the transaction, when
   * all added events are in `events` and `details`.
   */
  flush(): void
  /** Discards the events added since the last flush. */
  forget(): void
  /** Discards the state in memory and reads the store again, after a rollback. */
  reload(): void
}>

/** The open month. `files` is null after a start until it is needed. */
type OpenMonth = {
  readonly month: Month
  readonly firstSeq: number
  /** The last seq in a stored segment. */
  sealed: number
  files: Record<MonthFile, OpenMonthFile> | null
}

/** Task for `flush`: end a segment at `seq`, or begin a month whose first event is `seq`. */
type DueStep = Readonly<{ seq: Seq; begins: null } | { seq: Seq; begins: Month; rootBefore: Hash }>

/** Compresses the lines of a segment, which begins at the offset `start` of its file. */
export type SegmentOf = (
  place: Readonly<{ month: Month; file: MonthFile; start: number }>,
  raw: Uint8Array,
) => Uint8Array

/** Opens the archive of a log for its only writer. Reads a few rows; the first segment reads the open month. */
export function openArchiveWriter(
  db: DatabaseSync,
  signer: Signer,
  segmentOf: SegmentOf = (_, raw) => deflateSegment(raw),
): ArchiveWriter {
  const store = openMonthStore(db, signer, segmentOf)
  let due: DueStep[] = []
  let open = store.openMonth()
  let endMs = 0
  const forget = (): void => {
    due = []
    endMs = open === null ? 0 : endOf(open.month)
  }

  forget()
  return {
    add({ seq, atMs }, rootBefore) {
      if (atMs >= endMs) {
        const begins = monthOf(atMs)
        due.push({ seq, begins, rootBefore: rootBefore() })
        endMs = endOf(begins)
      }
      if (seq % SEGMENT_SEQS === 0) due.push({ seq, begins: null })
    },
    flush() {
      for (const next of due) {
        const { seq, begins } = next
        if (begins === null) {
          assert(open !== null, `seq ${seq} is in a month`)
          store.seal(open, seq)
        } else {
          if (open !== null) store.close(open, { size: seq - 1, root: next.rootBefore }, begins)
          open = store.begin(begins, seq)
        }
      }
      if (due.length > 0) due = []
    },
    forget,
    reload() {
      open = store.openMonth()
      forget()
    },
  }
}

type MonthStore = Readonly<{
  openMonth(): OpenMonth | null
  begin(month: Month, firstSeq: number): OpenMonth
  /** Ends a segment at `lastSeq`, unless one ends there already. */
  seal(open: OpenMonth, lastSeq: number): void
  /** Closes the month with the tree as of its last event, and every empty month before `next`. */
  close(open: OpenMonth, tree: Tree, next: Month): void
}>

function openMonthStore(db: DatabaseSync, signer: Signer, segmentOf: SegmentOf): MonthStore {
  const lines: LinesOf = openStoredLines(db)
  const insertMonth = db.prepare(
    'INSERT INTO months(month, first_seq, events, closed, manifest) VALUES (?, ?, 0, ?, ?)',
  )
  const closeMonth = db.prepare(
    'UPDATE months SET last_seq = ?, events = ?, closed = 1, manifest = ? WHERE month = ? AND closed = 0',
  )
  const writeSegment = openSegmentWriter(db)
  const filesOf = (open: OpenMonth): Record<MonthFile, OpenMonthFile> =>
    (open.files ??= {
      events: reopenMonthFile(db, lines, open, 'events'),
      details: reopenMonthFile(db, lines, open, 'details'),
    })

  const store: MonthStore = {
    openMonth: () => readOpenMonth(db),
    begin(month, firstSeq) {
      insertMonth.run(month, firstSeq, 0, null)
      return {
        month,
        firstSeq,
        sealed: firstSeq - 1,
        files: { events: beginMonthFile(), details: beginMonthFile() },
      }
    },
    seal(open, lastSeq) {
      if (open.sealed === lastSeq) return
      const files = filesOf(open)
      for (const file of MONTH_FILES) {
        const raw = lines(file, open.sealed + 1, lastSeq)
        if (file === 'events') assertSpan(raw, open.sealed + 1, lastSeq)
        if (raw.length === 0) continue
        const { month } = open
        const segment = segmentOf({ month, file, start: files[file].storedBytes }, raw)
        writeSegment({ month, file, lastSeq }, files[file], raw, segment)
      }
      open.sealed = lastSeq
    },
    close(open, tree, next) {
      const last = tree.size
      store.seal(open, last)
      const signed = treeFields(signer, tree)
      const manifest = manifestOf(open.month, { first: open.firstSeq, last }, signed, filesOf(open))
      closeMonth.run(last, manifest.events, JSON.stringify(manifest), open.month)
      for (let month = nextMonth(open.month); month < next; month = nextMonth(month)) {
        const files = { events: beginMonthFile(), details: beginMonthFile() }
        insertMonth.run(month, null, 1, JSON.stringify(manifestOf(month, null, signed, files)))
      }
    },
  }
  return store
}

function readOpenMonth(db: DatabaseSync): OpenMonth | null {
  const row = db.prepare('SELECT month, first_seq FROM months ORDER BY month DESC LIMIT 1').get()
  if (row === undefined) return null
  const month = parseMonth(text(row, 'month'))
  assert(month !== undefined, 'the newest month of the archive is a month')
  const firstSeq = number(row, 'first_seq')
  const last = db
    .prepare('SELECT last_seq FROM segments WHERE month = ? AND file = ? ORDER BY start DESC LIMIT 1')
    .get(month, FILE_CODES.events)
  const sealed = last === undefined ? firstSeq - 1 : number(last, 'last_seq')
  return { month, firstSeq, sealed, files: null }
}

/** The fields of a manifest about the tree at the month's end. */
type TreeFields = Pick<ArchiveManifest, 'size' | 'root' | 'checkpoint'>

function treeFields(signer: Signer, { size, root }: Tree): TreeFields {
  return { size, root: base64.encode(root), checkpoint: signer.sign({ size, root }).note }
}

function manifestOf(
  month: Month,
  seqs: Readonly<{ first: number; last: number }> | null,
  tree: TreeFields,
  files: Readonly<Record<MonthFile, OpenMonthFile>>,
): ArchiveManifest {
  const events = endMonthFile(files.events)
  const details = endMonthFile(files.details)
  return {
    month,
    firstSeq: seqs === null ? null : seqs.first,
    lastSeq: seqs === null ? null : seqs.last,
    events: seqs === null ? 0 : seqs.last - seqs.first + 1,
    firstIndex: seqs === null ? null : seqs.first - 1,
    ...tree,
    lines: events.lines,
    gzip: events.gzip,
    details: { ...details.gzip, lines: details.lines },
  }
}

/** Asserts that the lines begin with seq `first` and end with `last`. A written segment never changes. */
function assertSpan(raw: Uint8Array, first: number, last: number): void {
  const lines = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength)
  const lastAt = lines.lastIndexOf(10, -2) + 1
  const begins = (at: number, seq: number) => lines.indexOf(`{"seq":${seq},`, at) === at
  assert(raw.length > 0 && begins(0, first) && begins(lastAt, last), `events ${first} to ${last} are stored`)
}

/** Exclusive end of a month. `nextMonth` fails for the protocol's last month. */
function endOf(month: Month): number {
  return Date.UTC(+month.slice(0, 4), +month.slice(5, 7), 1)
}
