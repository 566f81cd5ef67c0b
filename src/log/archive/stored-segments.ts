import type { DatabaseSync } from 'node:sqlite'
import { FILE_CODES } from '../store/archive-tables.ts'
import type { SegmentOf } from './archive-writer.ts'
import { deflateSegment, inflatesTo } from './gzip-member.ts'

/**
 * Reuses the segments of another store of the same log. Another version of zlib may compress differently, which would
 * change the bytes and digests of a published month. A segment with other lines is compressed again.
 */
export function segmentsOf(db: DatabaseSync): SegmentOf {
  const select = db.prepare('SELECT bytes FROM segments WHERE month = ? AND file = ? AND start = ?')
  return ({ month, file, start }, raw) => {
    const kept = select.get(month, FILE_CODES[file], start)?.['bytes']
    return kept instanceof Uint8Array && inflatesTo(kept, raw) ? kept : deflateSegment(raw)
  }
}
