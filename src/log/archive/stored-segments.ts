import type { DatabaseSync } from 'node:sqlite'
import { FILE_CODES } from '../store/archive-tables.ts'
import type { SegmentOf } from './archive-writer.ts'
import { deflateSegment, inflatesTo } from './gzip-member.ts'

/**
 * Gives the segments of another store of the same log. Another version of zlib may compress otherwise, and then the bytes
 * of a published month, and their digests, would change. A segment that does not hold exactly the lines is compressed
 * again.
 */
export function segmentsOf(db: DatabaseSync): SegmentOf {
  const select = db.prepare('SELECT bytes FROM segments WHERE month = ? AND file = ? AND start = ?')
  return ({ month, file, start }, raw) => {
    const kept = select.get(month, FILE_CODES[file], start)?.['bytes']
    return kept instanceof Uint8Array && inflatesTo(kept, raw) ? kept : deflateSegment(raw)
  }
}
