import type { DatabaseSync } from 'node:sqlite'
import type { Month } from '../../protocol/moment.ts'
import { FILE_CODES } from '../../log/store/archive-tables.ts'
import type { MonthFile } from '../../log/store/reader.ts'
import { beginMonthFile, openSegmentWriter } from '../../log/archive/open-month-file.ts'

/** Segment that another node has published, with its lines. */
type PublishedSegment = Readonly<{ lastSeq: number; raw: Uint8Array; bytes: Uint8Array }>

/**
 * Replaces the stored segments of an open month's file by those that another node has published, in the caller's
 * transaction. Both must hold the same lines, perhaps compressed by another version of zlib. Otherwise returns false,
 * and the caller must roll back. The archive writer must be reloaded afterwards.
 */
export function replaceSegments(
  db: DatabaseSync,
  month: Month,
  file: MonthFile,
  published: Iterable<PublishedSegment>,
): boolean {
  const before = rawBytesOf(db, month, file)
  db.prepare('DELETE FROM segments WHERE month = ? AND file = ?').run(month, FILE_CODES[file])
  const writeSegment = openSegmentWriter(db)
  const open = beginMonthFile()
  for (const { lastSeq, raw, bytes } of published) writeSegment({ month, file, lastSeq }, open, raw, bytes)
  return open.running.bytes === before.bytes && open.running.crc === before.crc
}

/** Bytes and CRC-32 of the lines in the stored segments. */
function rawBytesOf(
  db: DatabaseSync,
  month: Month,
  file: MonthFile,
): Readonly<{ bytes: number; crc: number }> {
  const row = db
    .prepare('SELECT raw_bytes, crc FROM segments WHERE month = ? AND file = ? ORDER BY start DESC LIMIT 1')
    .get(month, FILE_CODES[file])
  return { bytes: Number(row?.['raw_bytes'] ?? 0), crc: Number(row?.['crc'] ?? 0) }
}
