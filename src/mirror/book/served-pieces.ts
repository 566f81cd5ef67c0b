import type { SegmentOf } from '../../log/archive/archive-writer.ts'
import { deflateSegment } from '../../log/archive/gzip-member.ts'
import type { MonthFile } from '../../log/store/reader.ts'
import type { Month } from '../../protocol/moment.ts'
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
