import type { DatabaseSync } from 'node:sqlite'
import { crc32 } from 'node:zlib'
import { assert } from '../../protocol/brand.ts'
import type { Month } from '../../protocol/moment.ts'
import type { Digest } from '../../protocol/resources.ts'
import { FILE_CODES } from '../store/archive-tables.ts'
import { bytes, number } from '../store/codec.ts'
import type { RunningSum } from './gzip-member.ts'
import { deflateSegment, GZIP_HEADER, gzipTrailer, EMPTY_SUM, addToSum } from './gzip-member.ts'
import type { MonthFile } from '../store/reader.ts'
import type { Sha256State } from './sha256-state.ts'
import { beginSha256, decodeSha256, encodeSha256, sha256Of, takeIntoSha256 } from './sha256-state.ts'

/** A segment to be stored. */
type Segment = Readonly<{ start: number; bytes: Uint8Array; bytesCrc: number; running: RunningSum }>

/** One file of the open month with digests of its stored part, so that closing the month need not read it again. */
export type MonthBook = {
  running: RunningSum
  storedBytes: number
  readonly lines: Sha256State
  readonly gzip: Sha256State
}

/** Begins the file of a new month. */
export function beginBook(): MonthBook {
  const gzip = beginSha256()
  takeIntoSha256(gzip, GZIP_HEADER)
  return { running: EMPTY_SUM, storedBytes: GZIP_HEADER.length, lines: beginSha256(), gzip }
}

/** Compresses the next lines of the file and adds them to its digests. */
export function extendBook(book: MonthBook, raw: Uint8Array): Segment {
  const segment = deflateSegment(raw)
  const start = book.storedBytes
  book.running = addToSum(book.running, raw)
  book.storedBytes += segment.length
  takeIntoSha256(book.lines, raw)
  takeIntoSha256(book.gzip, segment)
  return { start, bytes: segment, bytesCrc: crc32(segment), running: book.running }
}

/** Ends the file and gives the digests of its lines and of its bytes. Nothing can be added afterwards. */
export function endBook(book: MonthBook): Readonly<{ lines: Digest; gzip: Digest }> {
  const trailer = gzipTrailer(book.running)
  takeIntoSha256(book.gzip, trailer)
  return {
    lines: { bytes: book.running.bytes, sha256: sha256Of(book.lines) },
    gzip: { bytes: book.storedBytes + trailer.length, sha256: sha256Of(book.gzip) },
  }
}

/** The digests in the form of their columns in `digests`. */
export function digestsOf({ lines, gzip }: MonthBook): readonly [lines: Uint8Array, gzip: Uint8Array] {
  return [encodeSha256(lines), encodeSha256(gzip)]
}

/** Reads the book after a restart, from two rows. */
export function reopenBook(db: DatabaseSync, month: Month, file: MonthFile): MonthBook {
  const segment = db
    .prepare(
      `SELECT start + length(bytes) AS end, crc, raw_bytes FROM segments
       WHERE month = ? AND file = ? ORDER BY start DESC LIMIT 1`,
    )
    .get(month, FILE_CODES[file])
  if (segment === undefined) return beginBook()
  const row = db
    .prepare('SELECT lines, gzip FROM digests WHERE file = ? AND month = ?')
    .get(FILE_CODES[file], month)
  assert(row !== undefined, `the digests of ${month} (${file}) are stored with its segments`)
  const storedBytes = number(segment, 'end')
  const running = { crc: number(segment, 'crc'), bytes: number(segment, 'raw_bytes') }
  return {
    running,
    storedBytes,
    lines: decodeSha256(bytes(row, 'lines'), running.bytes),
    gzip: decodeSha256(bytes(row, 'gzip'), storedBytes),
  }
}
