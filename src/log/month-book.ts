import type { Hash } from 'node:crypto'
import { createHash } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import { constants, crc32, inflateRawSync } from 'node:zlib'
import { assert } from '../protocol/brand.ts'
import type { Month } from '../protocol/moment.ts'
import type { Digest } from '../protocol/resources.ts'
import { bytesOf, FILE_CODES, wholeOf } from './archive-tables.ts'
import type { Running } from './gzip-member.ts'
import { deflateSegment, GZIP_HEADER, gzipTrailer, NOTHING_YET, runOn } from './gzip-member.ts'
import type { MonthFile } from './reader.ts'

/** A segment as it is stored. */
export type Segment = Readonly<{ start: number; bytes: Uint8Array; bytesCrc: number; running: Running }>

/** One file of the open month, with digests kept running so that closing the month reads nothing again. */
export type MonthBook = {
  running: Running
  storedBytes: number
  readonly lines: Hash
  readonly gzip: Hash
}

/** The file of a month that has just begun. */
export function beginBook(): MonthBook {
  return {
    running: NOTHING_YET,
    storedBytes: GZIP_HEADER.length,
    lines: createHash('sha256'),
    gzip: createHash('sha256').update(GZIP_HEADER),
  }
}

/** Compresses the next lines of the file and takes them into its digests. */
export function extendBook(book: MonthBook, raw: Uint8Array): Segment {
  const bytes = deflateSegment(raw)
  const start = book.storedBytes
  take(book, raw, bytes)
  return { start, bytes, bytesCrc: crc32(bytes), running: book.running }
}

/** The digests of the whole file and of its lines. The book is at its end: nothing may be added any more. */
export function endBook(book: MonthBook): Readonly<{ lines: Digest; gzip: Digest }> {
  const trailer = gzipTrailer(book.running)
  return {
    lines: { bytes: book.running.bytes, sha256: book.lines.digest('hex') },
    gzip: {
      bytes: book.storedBytes + trailer.length,
      sha256: book.gzip.update(trailer).digest('hex'),
    },
  }
}

/** The book as its stored segments make it, after a restart. Throws when they are not what was written. */
export function reopenBook(db: DatabaseSync, month: Month, file: MonthFile): MonthBook {
  const book = beginBook()
  const readNext = openSegments(db, month, file)
  while (readNext(book) !== undefined) continue
  return book
}

/** Takes the next stored segment into the book; undefined after the last. Throws when it is not what was written. */
export type ReadNext = (book: MonthBook) => Readonly<{ lastSeq: number; raw: Uint8Array }> | undefined

/** The stored segments of one file, in order; no statement stays open between two of them. */
function openSegments(db: DatabaseSync, month: Month, file: MonthFile): ReadNext {
  const next = db.prepare(
    `SELECT start, last_seq, crc, raw_bytes, bytes_crc, bytes FROM segments
     WHERE month = ? AND file = ? AND start >= ? ORDER BY start LIMIT 1`,
  )
  return (book) => {
    const row = next.get(month, FILE_CODES[file], book.storedBytes)
    if (row === undefined) return undefined
    const bytes = bytesOf(row['bytes'])
    const start = wholeOf(row['start'])
    assert(start === book.storedBytes, `the segments of ${month} (${file}) join at byte ${start}`)
    const raw = inflateRawSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH })
    take(book, raw, bytes)
    const { crc, bytes: rawBytes } = book.running
    const same =
      wholeOf(row['crc']) === crc &&
      wholeOf(row['raw_bytes']) === rawBytes &&
      wholeOf(row['bytes_crc']) === crc32(bytes)
    assert(same, `the segment of ${month} (${file}) at byte ${start} is what was written`)
    return { lastSeq: wholeOf(row['last_seq']), raw }
  }
}

function take(book: MonthBook, raw: Uint8Array, bytes: Uint8Array): void {
  book.running = runOn(book.running, raw)
  book.storedBytes += bytes.length
  book.lines.update(raw)
  book.gzip.update(bytes)
}
