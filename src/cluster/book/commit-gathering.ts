import type { SegmentOf } from '../../log/archive/archive-writer.ts'
import { deflateSegment, storeSegment } from '../../log/archive/gzip-member.ts'
import { type CommitRow, type RowRef, type RowSegment, STORED_ROW_SEGMENT } from '../row/log-row.ts'
import { assert } from '../../protocol/brand.ts'
import type { HeldGathering } from './held-gathering.ts'
import { ROW_CHANGES_BYTES_MAX, bytesOfEvent, bytesOfRef, SEGMENT_SPARE_BYTES } from './row-room.ts'

/** Changes of a commit, gathered while it is built: events and held drafts that were kept, and their segments. */
export type CommitGathering = Readonly<{
  /** Notes the lines of the next event, then its ref. */
  lines(line: string, details: string | null): void
  ref(ref: RowRef | null): void
  /** Keeps the noted events, or forgets them. */
  keep(): void
  drop(): void
  /** Compresses a segment, and notes it. */
  segmentOf: SegmentOf
  /** Content of the commit; null when nothing was kept. */
  commit(): Pick<CommitRow, 'lines' | 'details' | 'refs' | 'held' | 'segments'> | null
  /** Bytes that the row of the commit has left, without those that are kept. */
  bytesLeft(): number
  /** Keeps so many bytes for what the commit will gather, in place of those that were kept before. */
  reserve(bytes: number): void
  clear(): void
}>

/** Lines and refs of events. */
type Events = Readonly<{ lines: string[]; details: (string | null)[]; refs: (RowRef | null)[] }>

export function openCommitGathering(held: HeldGathering): CommitGathering {
  let kept = noEvents()
  let unkept = noEvents()
  let segments: RowSegment[] = []
  let bytes = 0
  let unkeptBytes = 0
  let reserved = 0

  function keep(): void {
    for (const line of unkept.lines) kept.lines.push(line)
    for (const line of unkept.details) kept.details.push(line)
    for (const ref of unkept.refs) kept.refs.push(ref)
    bytes += unkeptBytes
    drop()
  }

  function drop(): void {
    unkept = noEvents()
    unkeptBytes = 0
  }

  const bytesLeft = (): number => ROW_CHANGES_BYTES_MAX - bytes - unkeptBytes - held.bytes() - reserved

  return {
    lines(line, details) {
      unkept.lines.push(line)
      unkept.details.push(details)
      unkeptBytes += bytesOfEvent(line, details)
    },
    ref(ref) {
      unkept.refs.push(ref)
      unkeptBytes += bytesOfRef(ref)
    },
    keep,
    drop,
    segmentOf({ month, file, start }, raw) {
      // Segments are made before the batch is kept, and its events need their room first.
      keep()
      const deflated = deflateSegment(raw)
      const fits = deflated.length + SEGMENT_SPARE_BYTES <= bytesLeft()
      segments.push({ month, file, start, bytes: fits ? deflated : STORED_ROW_SEGMENT })
      if (fits) bytes += deflated.length
      return fits ? deflated : storeSegment(raw)
    },
    commit() {
      const { lines, details, refs } = kept
      if (lines.length === 0 && held.bytes() === 0) return null
      assert(refs.length === lines.length, 'each gathered event has its ref')
      return { lines, details, refs, held: held.changes(), segments }
    },
    bytesLeft,
    reserve: (size) => void (reserved = size),
    clear() {
      kept = noEvents()
      drop()
      segments = []
      bytes = reserved = 0
      held.clear()
    },
  }
}

function noEvents(): Events {
  return { lines: [], details: [], refs: [] }
}
