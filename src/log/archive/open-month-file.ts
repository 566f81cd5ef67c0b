import { createHash, type Hash } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import { crc32 } from 'node:zlib'
import type { Month } from '../../protocol/moment.ts'
import type { Digest } from '../../protocol/endpoints/file-endpoints.ts'
import { FILE_CODES, type LinesOf } from '../store/archive-tables.ts'
import { bytes, number } from '../store/codec.ts'
import type { MonthFile } from '../store/reader.ts'
import { addToSum, EMPTY_SUM, GZIP_HEADER, gzipTrailer, type RunningSum } from './gzip-member.ts'

/** File of the open month with digests of its stored part, so that closing the month does not read it again. */
export type OpenMonthFile = {
  running: RunningSum
  storedBytes: number
  readonly lines: Hash
  readonly gzip: Hash
}

/** Begins the file of a new month. */
export function beginMonthFile(): OpenMonthFile {
  const gzip = createHash('sha256').update(GZIP_HEADER)
  return { running: EMPTY_SUM, storedBytes: GZIP_HEADER.length, lines: createHash('sha256'), gzip }
}

/** Adds the next lines and their compressed segment to the file's sums and digests. */
function extendMonthFile(file: OpenMonthFile, raw: Uint8Array, segment: Uint8Array): void {
  file.running = addToSum(file.running, raw)
  file.storedBytes += segment.length
  file.lines.update(raw)
  file.gzip.update(segment)
}

/** Ends the file. Returns the digests of its lines and of its bytes. No lines can be added afterwards. */
export function endMonthFile(file: OpenMonthFile): Readonly<{ lines: Digest; gzip: Digest }> {
  const trailer = gzipTrailer(file.running)
  return {
    lines: { bytes: file.running.bytes, sha256: file.lines.digest('hex') },
    gzip: { bytes: file.storedBytes + trailer.length, sha256: file.gzip.update(trailer).digest('hex') },
  }
}

/** Rebuilds the file's state after a restart or a rollback, by hashing the month's stored lines and segments. */
export function reopenMonthFile(
  db: DatabaseSync,
  linesOf: LinesOf,
  { month, firstSeq }: Readonly<{ month: Month; firstSeq: number }>,
  file: MonthFile,
): OpenMonthFile {
  const open = beginMonthFile()
  let from = firstSeq
  const segments = db.prepare(
    'SELECT last_seq, bytes FROM segments WHERE month = ? AND file = ? ORDER BY start',
  )
  for (const row of segments.iterate(month, FILE_CODES[file])) {
    const last = number(row, 'last_seq')
    extendMonthFile(open, linesOf(file, from, last), bytes(row, 'bytes'))
    from = last + 1
  }
  return open
}

/** Opens the writer of segments. It adds each segment to the state of its file first. */
export function openSegmentWriter(
  db: DatabaseSync,
): (
  place: Readonly<{ month: Month; file: MonthFile; lastSeq: number }>,
  open: OpenMonthFile,
  raw: Uint8Array,
  segment: Uint8Array,
) => void {
  const insert = db.prepare(
    `INSERT INTO segments(month, file, start, last_seq, raw_bytes, crc, bytes_crc, bytes)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  return ({ month, file, lastSeq }, open, raw, segment) => {
    const start = open.storedBytes
    extendMonthFile(open, raw, segment)
    const { crc, bytes: rawBytes } = open.running
    insert.run(month, FILE_CODES[file], start, lastSeq, rawBytes, crc, crc32(segment), segment)
  }
}
