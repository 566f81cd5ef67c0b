import type { DatabaseSync } from 'node:sqlite'
import type { SegmentOf } from '../../log/archive/archive-writer.ts'
import { deflateSegment } from '../../log/archive/gzip-member.ts'
import { replaceSegments } from '../../log/archive/replace-segments.ts'
import { FILE_CODES, MONTH_FILES } from '../../log/store/archive-tables.ts'
import type { MonthFile } from '../../log/store/reader.ts'
import type { Month } from '../../protocol/moment.ts'
import type { MonthFiles } from '../months/file-entries.ts'
import { fileSegments } from '../months/file-entries.ts'
import type { MonthPiece } from '../months/month-pieces.ts'

/**
 * Segments of the origin's month files that the archive of the mirror will ask for. So a mirror whose zlib compresses
 * otherwise still stores the published bytes.
 */
type ServedPieces = Readonly<{
  add(month: Month, file: MonthFile, piece: MonthPiece): void
  segmentOf: SegmentOf
  /** Forgets all pieces, when they will not be asked for. */
  clear(): void
}>

export function openServedPieces(): ServedPieces {
  /** Pieces by their place, in the order of the file. */
  const pieces = new Map<string, MonthPiece>()
  const keyOf = (month: Month, file: MonthFile, start: number): string => `${month}/${file}/${start}`
  return {
    add: (month, file, piece) => void pieces.set(keyOf(month, file, piece.start), piece),
    segmentOf({ month, file, start }, raw) {
      const key = keyOf(month, file, start)
      const piece = pieces.get(key)
      pieces.delete(key)
      return piece !== undefined && Buffer.compare(piece.raw, raw) === 0 ? piece.bytes : deflateSegment(raw)
    },
    clear: () => pieces.clear(),
  }
}

/**
 * Replaces the stored segments of a month by the published ones, in the caller's transaction. Returns the published ones
 * whose lines are not in a stored segment yet; null when the others hold other lines than the store, and the caller must
 * roll back.
 */
export function replaceSealed(
  db: DatabaseSync,
  files: MonthFiles,
): readonly Readonly<{ file: MonthFile; piece: MonthPiece }>[] | null {
  const sealed = db.prepare('SELECT max(last_seq) AS seq FROM segments WHERE month = ? AND file = ?')
  const upTo = Number(sealed.get(files.month, FILE_CODES.events)?.['seq'] ?? 0)
  const rest: { file: MonthFile; piece: MonthPiece }[] = []
  function* sealedOf(file: MonthFile): Generator<MonthPiece & Readonly<{ lastSeq: number }>> {
    for (const piece of fileSegments(files, file)) {
      if (piece.lastSeq <= upTo) yield piece
      else rest.push({ file, piece })
    }
  }
  const isSame = MONTH_FILES.every((file) => replaceSegments(db, files.month, file, sealedOf(file)))
  return isSame ? rest : null
}
