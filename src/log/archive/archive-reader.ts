import type { DatabaseSync } from 'node:sqlite'
import { crc32 } from 'node:zlib'
import { assert } from '../../protocol/brand.ts'
import { type Month, parseMonth } from '../../protocol/moment.ts'
import { type Seq, seqOf } from '../../protocol/seq.ts'
import { FILE_CODES, openStoredLines } from '../store/archive-tables.ts'
import { bytes, number, type Row, text } from '../store/codec.ts'
import {
  addToSum,
  deflateSegment,
  EMPTY_SUM,
  GZIP_HEADER,
  gzipTrailer,
  type RunningSum,
} from './gzip-member.ts'
import type { MonthFile, MonthLayout, MonthState } from '../store/reader.ts'

/** Most bytes of a chunk. */
export const CHUNK_BYTES_MAX: number = 1024 * 1024

/** Reading half of the archive, for snapshots. No statement stays open between calls. */
export type ArchiveReader = Readonly<{
  /** All months from the first event's to the head's, ascending, including empty ones. */
  months(head: Seq): readonly MonthState[]
  month(month: Month, head: Seq): MonthState | undefined
  /** Layout of a month's file at this head; undefined when there is no such month. */
  layout(month: Month, file: MonthFile, head: Seq): MonthLayout | undefined
  /**
   * Whether the first `storedBytes` bytes of a file are unchanged since its layout was made: a segment still ends
   * there.
   */
  keepsStored(month: Month, file: MonthFile, storedBytes: number): boolean
  /**
   * First bytes of the stored range from `from` (inclusive) to `to` (exclusive): at least one, at most 1 MiB. Throws
   * outside the stored bytes, and for a damaged segment.
   */
  chunk(month: Month, file: MonthFile, from: number, to: number): Uint8Array
}>

/** End of a file's stored part: its offset, last seq and running values. */
type StoredEnd = Readonly<{ end: number; lastSeq: number; running: RunningSum }>

/** Opens the archive for one reader of the store. */
export function openArchiveReader(db: DatabaseSync): ArchiveReader {
  const lines = openStoredLines(db)
  const allMonths = db.prepare('SELECT * FROM months ORDER BY month')
  const oneMonth = db.prepare('SELECT * FROM months WHERE month = ?')
  const lastSegment = db.prepare(
    `SELECT start + length(bytes) AS end, last_seq, crc, raw_bytes FROM segments
     WHERE month = ? AND file = ? ORDER BY start DESC LIMIT 1`,
  )
  const segmentAt = db.prepare(
    `SELECT start, bytes_crc, bytes FROM segments
     WHERE month = ? AND file = ? AND start <= ? ORDER BY start DESC LIMIT 1`,
  )
  const endBefore = db.prepare(
    `SELECT start + length(bytes) AS end FROM segments
     WHERE month = ? AND file = ? AND start < ? ORDER BY start DESC LIMIT 1`,
  )
  const storedEnd = (month: Month, file: MonthFile): StoredEnd | undefined => {
    const row = lastSegment.get(month, FILE_CODES[file])
    if (row === undefined) return undefined
    const running = { crc: number(row, 'crc'), bytes: number(row, 'raw_bytes') }
    return { end: number(row, 'end'), lastSeq: number(row, 'last_seq'), running }
  }
  const find = (month: Month, head: Seq): MonthState | undefined => {
    const row = oneMonth.get(month)
    return row === undefined ? undefined : stateOf(row, head)
  }

  return {
    months: (head) => allMonths.all().map((row) => stateOf(row, head)),
    month: find,
    layout(month, file, head) {
      const state = find(month, head)
      if (state === undefined) return undefined
      const before = storedEnd(month, file)
      const running = before?.running ?? EMPTY_SUM
      const storedBytes = before?.end ?? GZIP_HEADER.length
      if (state.closed || state.firstSeq === null) return { storedBytes, ending: gzipTrailer(running) }
      // The details file has no segment where no event has details, so the events file shows how far segments go.
      const sealed = storedEnd(month, 'events')?.lastSeq ?? state.firstSeq - 1
      const tail = lines(file, sealed + 1, head)
      const ending = Buffer.concat([deflateSegment(tail), gzipTrailer(addToSum(running, tail))])
      return { storedBytes, ending }
    },
    keepsStored(month, file, storedBytes) {
      const end = endBefore.get(month, FILE_CODES[file], storedBytes)?.['end'] ?? GZIP_HEADER.length
      return end === storedBytes
    },
    chunk(month, file, from, to) {
      assert(from >= 0 && from < to, `the stretch from byte ${from} to ${to} holds bytes`)
      const header = GZIP_HEADER.subarray(from, to)
      const at = from + header.length
      if (at === to) return header
      const row = segmentAt.get(month, FILE_CODES[file], at)
      assert(row !== undefined, `byte ${at} of ${month} (${file}) is in a segment`)
      const start = number(row, 'start')
      const segment = bytes(row, 'bytes')
      // Checked at each reading, because caches keep month files forever.
      if (crc32(segment) !== number(row, 'bytes_crc')) {
        throw new Error(`the stored segment of ${month} (${file}) at byte ${start} is damaged`)
      }
      assert(at - start < segment.length, `byte ${at} of ${month} (${file}) is stored`)
      const piece = segment.subarray(at - start, Math.min(to, from + CHUNK_BYTES_MAX) - start)
      return header.length === 0 ? piece : Buffer.concat([header, piece])
    },
  }
}

function stateOf(row: Row, head: Seq): MonthState {
  const month = parseMonth(text(row, 'month'))
  assert(month !== undefined, 'a month of the archive is a month')
  const manifest = row['manifest']
  const firstSeq = row['first_seq'] === null ? null : seqOf(number(row, 'first_seq'))
  if (typeof manifest !== 'string') {
    assert(firstSeq !== null, `the open month ${month} has an event`)
    return { month, closed: false, events: head - firstSeq + 1, firstSeq, lastSeq: head, manifest: null }
  }
  const lastSeq = row['last_seq'] === null ? null : seqOf(number(row, 'last_seq'))
  return { month, closed: true, events: number(row, 'events'), firstSeq, lastSeq, manifest }
}
