import type { DatabaseSync } from 'node:sqlite'
import { crc32 } from 'node:zlib'
import { assert } from '../../protocol/brand.ts'
import type { Month } from '../../protocol/moment.ts'
import type { Digest } from '../../protocol/endpoints/file-endpoints.ts'
import { FILE_CODES } from '../store/archive-tables.ts'
import { bytes, number } from '../store/codec.ts'
import { addToSum, EMPTY_SUM, GZIP_HEADER, gzipTrailer, type RunningSum } from './gzip-member.ts'
import type { MonthFile } from '../store/reader.ts'
import {
  beginSha256,
  decodeSha256,
  encodeSha256,
  sha256Of,
  type Sha256State,
  updateSha256,
} from './sha256-state.ts'

/** A segment to be stored. */
type Segment = Readonly<{ start: number; bytes: Uint8Array; bytesCrc: number; running: RunningSum }>

/** One file of the open month with digests of its stored part, so that closing the month need not read it again. */
export type OpenMonthFile = {
  running: RunningSum
  storedBytes: number
  readonly lines: Sha256State
  readonly gzip: Sha256State
}

/** Begins the file of a new month. */
export function beginMonthFile(): OpenMonthFile {
  const gzip = beginSha256()
  updateSha256(gzip, GZIP_HEADER)
  return { running: EMPTY_SUM, storedBytes: GZIP_HEADER.length, lines: beginSha256(), gzip }
}

/** Adds the next lines of the file, and their compressed segment, to its digests. */
export function extendMonthFile(file: OpenMonthFile, raw: Uint8Array, segment: Uint8Array): Segment {
  const start = file.storedBytes
  file.running = addToSum(file.running, raw)
  file.storedBytes += segment.length
  updateSha256(file.lines, raw)
  updateSha256(file.gzip, segment)
  return { start, bytes: segment, bytesCrc: crc32(segment), running: file.running }
}

/** Ends the file and gives the digests of its lines and of its bytes. Nothing can be added afterwards. */
export function endMonthFile(file: OpenMonthFile): Readonly<{ lines: Digest; gzip: Digest }> {
  const trailer = gzipTrailer(file.running)
  updateSha256(file.gzip, trailer)
  return {
    lines: { bytes: file.running.bytes, sha256: sha256Of(file.lines) },
    gzip: { bytes: file.storedBytes + trailer.length, sha256: sha256Of(file.gzip) },
  }
}

/** The digests in the form of their columns in `digests`. */
export function digestsOf({ lines, gzip }: OpenMonthFile): readonly [lines: Uint8Array, gzip: Uint8Array] {
  return [encodeSha256(lines), encodeSha256(gzip)]
}

/** Reads the file’s state after a restart, from two rows. */
export function reopenMonthFile(db: DatabaseSync, month: Month, file: MonthFile): OpenMonthFile {
  const segment = db
    .prepare(
      `SELECT start + length(bytes) AS end, crc, raw_bytes FROM segments
       WHERE month = ? AND file = ? ORDER BY start DESC LIMIT 1`,
    )
    .get(month, FILE_CODES[file])
  if (segment === undefined) return beginMonthFile()
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
