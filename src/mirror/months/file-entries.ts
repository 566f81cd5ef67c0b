import { SEGMENT_SEQS } from '../../log/store/archive-tables.ts'
import type { MonthFile } from '../../log/store/reader.ts'
import { type Month, monthOf } from '../../protocol/moment.ts'
import { nextSeq } from '../../protocol/seq.ts'
import type { ExpectedNext } from '../../verify/reading/entry-lines.ts'
import { WrongError } from '../../verify/reading/finding.ts'
import {
  DETAILS_LINE_BYTES_MAX_FRAMED,
  EVENT_LINE_BYTES_MAX,
  type MirrorEntry,
  readEntry,
} from '../proof/mirror-entry.ts'
import type { DownloadedFile } from './month-download.ts'
import { type MonthPiece, monthPieces } from './month-pieces.ts'

/** Both files of a month, and the seqs in them. `lastSeq` is null when the end of an open month is not known. */
export type MonthFiles = Readonly<{
  month: Month
  files: Readonly<Record<MonthFile, DownloadedFile>>
  firstSeq: number
  lastSeq: number | null
}>

/** A segment with the last seq of its window. */
export type MonthSegment = MonthPiece & Readonly<{ lastSeq: number }>

/** Called with each segment of which the mirror lacks a part, before its lines are yielded. */
type OnPiece = (month: Month, file: MonthFile, piece: MonthSegment) => void

/** Segments of one file of a month, in order. */
export function* fileSegments(
  { files, firstSeq, lastSeq }: MonthFiles,
  file: MonthFile,
): Generator<MonthSegment, void> {
  const { path, place } = files[file]
  const last = lastSeq ?? Number.MAX_SAFE_INTEGER
  const lineBytesMax = file === 'events' ? EVENT_LINE_BYTES_MAX : DETAILS_LINE_BYTES_MAX_FRAMED
  const limits = {
    pieceRawBytesMax: SEGMENT_SEQS * lineBytesMax,
    rawBytesMax: (last - firstSeq + 1) * lineBytesMax,
  }
  const isEnd = (raw: Buffer): boolean => file === 'details' || isWindowEnd(lastSeqOf(raw), lastSeq)
  for (const piece of monthPieces(path, place, limits, isEnd)) {
    const window = Math.ceil(lastSeqOf(piece.raw) / SEGMENT_SEQS) * SEGMENT_SEQS
    yield { ...piece, lastSeq: Math.min(window, last) }
  }
}

/** Whether a segment may end with this seq. The file of an open month ends with one that is not full. */
function isWindowEnd(seq: number, lastSeq: number | null): boolean {
  return seq % SEGMENT_SEQS === 0 || seq === lastSeq || lastSeq === null
}

/** The seq of the last line. */
function lastSeqOf(raw: Buffer): number {
  return seqAt(raw, raw.lastIndexOf(LINE_FEED, -2) + 1)
}

/**
 * Entries of a month from its downloaded files, after those that the mirror has, in batches of a segment. Throws a
 * `WrongError` at the first line that cannot come next.
 */
export function* fileEntries(
  of: MonthFiles,
  next: () => ExpectedNext,
  onPiece: OnPiece,
): Generator<readonly MirrorEntry[], void> {
  const { month, lastSeq } = of
  const give = (file: MonthFile, piece: MonthSegment): void => {
    if (piece.lastSeq >= next().seq) onPiece(month, file, piece)
  }
  const details = openDetailsLines(of, (piece) => give('details', piece))
  for (const piece of fileSegments(of, 'events')) {
    give('events', piece)
    const lines = piece.raw.toString('utf8', 0, piece.raw.length - 1).split('\n')
    let expected = next()
    const first = seqAt(piece.raw, 0)
    if (first > expected.seq) throw new WrongError(`seq ${expected.seq}`, 'is missing')
    const entries: MirrorEntry[] = []
    for (const [index, line] of lines.entries()) {
      const detailsLine = details.of(first + index)
      if (first + index < expected.seq) continue
      const entry = readEntry(line, detailsLine, expected)
      if (monthOf(entry.event.atMs) !== month)
        throw new WrongError(`seq ${entry.event.seq}`, `is not of ${month}`)
      expected = { seq: nextSeq(entry.event.seq), notBefore: entry.event.atMs }
      entries.push(entry)
    }
    yield entries
  }
  if (lastSeq !== null) details.end()
}

const LINE_FEED = 10
const SEQ = /^\{"seq":(\d{1,16}),/

/** The seq of the line that begins at a byte; 0 when there is none. */
function seqAt(raw: Buffer, at: number): number {
  return Number(SEQ.exec(raw.toString('latin1', at, at + 32))?.[1] ?? 0)
}

type DetailsLines = Readonly<{
  /** The line of the details of an event; null when it has none. Seqs ascend. */
  of(seq: number): string | null
  /** Demands that no line is left. */
  end(): void
}>

function openDetailsLines(of: MonthFiles, onPiece: (piece: MonthSegment) => void): DetailsLines {
  const { place } = of.files.details
  const { lastSeq } = of
  const pieces = fileSegments(of, 'details')
  let lines: readonly string[] = []
  let at = 0
  let seq = 0

  function advance(): void {
    at += 1
    if (at >= lines.length) {
      const piece = pieces.next()
      at = 0
      lines = []
      if (piece.done === true) {
        seq = Number.POSITIVE_INFINITY
        return
      }
      onPiece(piece.value)
      lines = piece.value.raw.toString('utf8', 0, piece.value.raw.length - 1).split('\n')
    }
    const next = Number(SEQ.exec(lines[at] ?? '')?.[1] ?? 0)
    if (next <= seq) throw new WrongError(place, 'has lines that are out of order')
    seq = next
  }

  advance()
  return {
    of(wanted) {
      if (seq < wanted) throw new WrongError(`the details of seq ${seq}`, 'belong to no event of this month')
      if (seq > wanted) return null
      const line = lines[at] ?? null
      advance()
      return line
    },
    end() {
      if (seq !== Number.POSITIVE_INFINITY)
        throw new WrongError(place, `has details beyond seq ${lastSeq ?? 0}, the last event of the month`)
    },
  }
}
