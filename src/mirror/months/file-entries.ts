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
import { isUtf8 } from 'node:buffer'
import { closeSync, openSync, readSync } from 'node:fs'
import { constants, inflateRawSync } from 'node:zlib'
import {
  addToSum,
  EMPTY_SUM,
  GZIP_HEADER,
  gzipTrailer,
  type RunningSum,
} from '../../log/archive/gzip-member.ts'

/** Both files of a month, and the seqs in them. `lastSeq` is null when the end of an open month is unknown. */
export type MonthFiles = Readonly<{
  month: Month
  files: Readonly<Record<MonthFile, DownloadedFile>>
  firstSeq: number
  lastSeq: number | null
}>

/** A segment with the last seq of its window. */
export type MonthSegment = MonthPiece & Readonly<{ lastSeq: number }>

/** Called with each segment that the mirror lacks in part, before its lines are yielded. */
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

/** Whether a segment may end with this seq. The file of an open month ends with an incomplete segment. */
function isWindowEnd(seq: number, lastSeq: number | null): boolean {
  return seq % SEGMENT_SEQS === 0 || seq === lastSeq || lastSeq === null
}

/** The seq of the last line. */
function lastSeqOf(raw: Buffer): number {
  return seqAt(raw, raw.lastIndexOf(LINE_FEED, -2) + 1)
}

/**
 * Entries of a month from its downloaded files, after those of the mirror, in batches of a segment. Throws a
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
  /** Details line of an event; null when it has none. Seqs ascend. */
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

/** Segment of a month file: its offset, its compressed bytes and its lines, each with its line feed. */
type MonthPiece = Readonly<{ start: number; bytes: Buffer; raw: Buffer }>

/** Limits of one file: bytes of the lines of one segment, and of all. */
type PieceLimits = Readonly<{ pieceRawBytesMax: number; rawBytesMax: number }>

/** End of each segment: an empty stored block, which a sync flush writes (RFC 1979, section 2.1). */
const FLUSH_MARKER = Buffer.from([0x00, 0x00, 0xff, 0xff])
const TRAILER_BYTES: number = gzipTrailer(EMPTY_SUM).length
const READ_BYTES: number = 256 * 1024
/** Markers inside one segment, which other compressors could write. */
const MARKERS_MAX = 64
/** Most compressed bytes beyond the unpacked ones. Blocks that do not compress are stored. */
const SPARE_BYTES: number = 1024 * 1024

/**
 * Splits a downloaded month file into its segments, in order, one in memory at a time. `isEnd` says whether a segment
 * ends after these lines. Throws a `WrongError` unless the file is one gzip member of segments in the archive's form.
 */
function* monthPieces(
  path: string,
  place: string,
  limits: PieceLimits,
  isEnd: (raw: Buffer) => boolean,
): Generator<MonthPiece, void> {
  const file = openBytes(path)
  try {
    const header = file.at(0, GZIP_HEADER.length)
    if (Buffer.compare(header, GZIP_HEADER) !== 0)
      throw new WrongError(place, 'is no gzip file of the archive')
    let start = GZIP_HEADER.length
    let sum: RunningSum = EMPTY_SUM
    for (;;) {
      const piece = nextPiece(file, start, place, limits, isEnd)
      if (piece === null) break
      sum = addToSum(sum, piece.raw)
      if (sum.bytes > limits.rawBytesMax)
        throw new WrongError(place, 'has more lines than its events can have')
      start += piece.bytes.length
      file.forget(start)
      yield piece
    }
    const trailer = gzipTrailer(sum)
    if (Buffer.compare(file.at(start, trailer.length + 1), trailer) !== 0)
      throw new WrongError(place, 'is not a complete gzip file of the archive')
  } finally {
    file.close()
  }
}

/** The next segment; null when none begins at `start`. */
function nextPiece(
  file: FileBytes,
  start: number,
  place: string,
  { pieceRawBytesMax }: PieceLimits,
  isEnd: (raw: Buffer) => boolean,
): MonthPiece | null {
  // The trailer may hold the marker by chance.
  if (file.at(start, TRAILER_BYTES + 1).length <= TRAILER_BYTES) return null
  const stored = storedPiece(file, start, pieceRawBytesMax)
  if (stored !== null && isComplete(stored.raw, isEnd)) return checkedPiece(stored, place)
  let from = start
  for (let markers = 0; markers < MARKERS_MAX; markers += 1) {
    const marker = file.find(FLUSH_MARKER, from, start + pieceRawBytesMax + SPARE_BYTES)
    if (marker === null) return null
    const end = marker + FLUSH_MARKER.length
    const bytes = Buffer.from(file.at(start, end - start))
    const raw = inflated(bytes, place, pieceRawBytesMax)
    if (isComplete(raw, isEnd)) return checkedPiece({ start, bytes, raw }, place)
    from = marker + 1
  }
  throw new WrongError(place, 'is not made of the segments of the archive')
}

function isComplete(raw: Buffer, isEnd: (raw: Buffer) => boolean): boolean {
  return raw.at(-1) === LINE_FEED && isEnd(raw)
}

function checkedPiece(piece: MonthPiece, place: string): MonthPiece {
  if (!isUtf8(piece.raw)) throw new WrongError(place, 'is not UTF-8')
  return piece
}

/** Head of a stored block of deflate: its type, its length, and the complement of that (RFC 1951, section 3.2.4). */
const BLOCK_HEAD_BYTES = 5
const BLOCK_BYTES_MAX = 0xffff

/**
 * Segment that is stored without compression, in blocks of which only the last may be incomplete; null for any other.
 */
function storedPiece(file: FileBytes, start: number, rawBytesMax: number): MonthPiece | null {
  const blocks: Buffer[] = []
  for (let at = start; at - start <= rawBytesMax + SPARE_BYTES;) {
    const head = file.at(at, BLOCK_HEAD_BYTES)
    if (head.length < BLOCK_HEAD_BYTES || head[0] !== 0) return null
    const bytes = head.readUInt16LE(1)
    if (bytes === 0 || bytes + head.readUInt16LE(3) !== BLOCK_BYTES_MAX) return null
    const block = file.at(at + BLOCK_HEAD_BYTES, bytes)
    if (block.length < bytes) return null
    blocks.push(Buffer.from(block))
    at += BLOCK_HEAD_BYTES + bytes
    if (bytes < BLOCK_BYTES_MAX)
      return { start, bytes: Buffer.from(file.at(start, at - start)), raw: Buffer.concat(blocks) }
  }
  return null
}

function inflated(bytes: Uint8Array, place: string, rawBytesMax: number): Buffer {
  try {
    const finishFlush = constants.Z_SYNC_FLUSH
    return inflateRawSync(bytes, { finishFlush, maxOutputLength: rawBytesMax })
  } catch (cause) {
    throw new WrongError(place, 'has a segment that cannot be unpacked', { cause })
  }
}

/** Bytes of a file around a position that moves forward. */
type FileBytes = Readonly<{
  /** Bytes from an offset on; fewer at the end of the file. */
  at(start: number, length: number): Buffer
  /** Offset of the first occurrence that begins from `from` to before `to`; null when there is none. */
  find(pattern: Buffer, from: number, to: number): number | null
  /** Bytes before this offset are not asked for again. */
  forget(before: number): void
  close(): void
}>

function openBytes(path: string): FileBytes {
  const file = openSync(path, 'r')
  let base = 0
  let held = Buffer.alloc(0)
  let isWhole = false

  function more(): void {
    const block = Buffer.allocUnsafe(Math.max(READ_BYTES, held.length))
    const read = readSync(file, block, 0, block.length, base + held.length)
    if (read === 0) isWhole = true
    else held = Buffer.concat([held, block.subarray(0, read)])
  }

  return {
    at(start, length) {
      while (!isWhole && base + held.length < start + length) more()
      return held.subarray(start - base, start - base + length)
    },
    find(pattern, from, to) {
      let searched = from
      for (;;) {
        const found = held.indexOf(pattern, searched - base)
        if (found >= 0) return base + found < to ? base + found : null
        searched = Math.max(from, base + held.length - pattern.length + 1)
        if (isWhole || searched >= to) return null
        more()
      }
    },
    forget(before) {
      held = held.subarray(before - base)
      base = before
    },
    close: () => closeSync(file),
  }
}
