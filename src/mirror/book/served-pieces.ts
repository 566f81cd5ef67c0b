import { hash } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import type { SegmentOf } from '../../log/archive/archive-writer.ts'
import { deflateSegment } from '../../log/archive/gzip-member.ts'
import { replaceSegments } from './replace-segments.ts'
import { FILE_CODES, MONTH_FILES, SEGMENT_SEQS } from '../../log/store/archive-tables.ts'
import type { MonthFile } from '../../log/store/reader.ts'
import type { Month } from '../../protocol/moment.ts'
import { fileSegments, type MonthFiles, type MonthSegment } from '../months/file-entries.ts'

/**
 * Segments of the origin's month files that the mirror's archive will need. With them, a mirror whose zlib compresses
 * differently still stores the published bytes.
 */
type ServedPieces = Readonly<{
  add(month: Month, file: MonthFile, piece: MonthSegment): void
  segmentOf: SegmentOf
  /** Drops the pieces that are no longer needed when the events up to `seq` are written. */
  forgetStored(seq: number): void
  /** Drops all pieces. */
  clear(): void
}>

/** Piece with a digest instead of its lines, which take about ten times as much memory. */
type KeptPiece = Readonly<{ lastSeq: number; bytes: Uint8Array; digest: string }>

export function openServedPieces(): ServedPieces {
  /** Pieces by their place. */
  const pieces = new Map<string, KeptPiece>()
  const keyOf = (month: Month, file: MonthFile, start: number): string => `${month}/${file}/${start}`
  return {
    add(month, file, { start, lastSeq, bytes, raw }) {
      pieces.set(keyOf(month, file, start), { lastSeq, bytes, digest: hash('sha256', raw) })
    },
    segmentOf({ month, file, start }, raw) {
      const key = keyOf(month, file, start)
      const piece = pieces.get(key)
      pieces.delete(key)
      return piece?.digest === hash('sha256', raw) ? piece.bytes : deflateSegment(raw)
    },
    forgetStored(seq) {
      // An incomplete segment is stored later, when its month ends.
      const stored = seq - (seq % SEGMENT_SEQS)
      for (const [key, { lastSeq }] of pieces) if (lastSeq <= stored) pieces.delete(key)
    },
    clear: () => pieces.clear(),
  }
}

/**
 * Replaces the stored segments of a month by the published ones, in the caller's transaction. Calls `onRest` with each
 * published one whose lines are in no stored segment yet. Returns false when the others have other lines than the
 * store; the caller must then roll back.
 */
export function replaceSealed(
  db: DatabaseSync,
  files: MonthFiles,
  onRest: (file: MonthFile, piece: MonthSegment) => void,
): boolean {
  const sealed = db.prepare('SELECT max(last_seq) AS seq FROM segments WHERE month = ? AND file = ?')
  const upTo = Number(sealed.get(files.month, FILE_CODES.events)?.['seq'] ?? 0)
  function* sealedOf(file: MonthFile): Generator<MonthSegment> {
    for (const piece of fileSegments(files, file)) {
      if (piece.lastSeq <= upTo) yield piece
      else onRest(file, piece)
    }
  }
  return MONTH_FILES.every((file) => replaceSegments(db, files.month, file, sealedOf(file)))
}
