import type { SegmentOf } from '../../log/archive/archive-writer.ts'
import { deflateSegment, storeSegment } from '../../log/archive/gzip-member.ts'
import type { CarriedSegment, Commit, PublishedRef } from '../../log/message/message.ts'
import { STORED_SEGMENT } from '../../log/message/message.ts'
import { assert } from '../../protocol/brand.ts'
import type { GatheredHeld } from './gathered-held.ts'
import { COMMIT_BYTES_MAX, eventBytes, refBytes, SPARE_BYTES } from './message-room.ts'

/** Changes of a commit, gathered while it is built: events and held drafts that were kept, and their segments. */
export type GatheredCommit = Readonly<{
  /** Notes the lines of the next event, then its ref. */
  lines(line: string, details: string | null): void
  ref(ref: PublishedRef | null): void
  /** Keeps the noted events, or forgets them. */
  keep(): void
  drop(): void
  /** Compresses a segment, and notes it. */
  segmentOf: SegmentOf
  /** Content of the commit; null when nothing was kept. */
  commit(): Pick<Commit, 'lines' | 'details' | 'refs' | 'held' | 'segments'> | null
  /** Bytes that the message of the commit has left, without those that are kept. */
  bytesLeft(): number
  /** Keeps so many bytes for what the commit will gather, in place of those that were kept before. */
  reserve(bytes: number): void
  clear(): void
}>

/** Lines and refs of events. */
type Events = Readonly<{ lines: string[]; details: (string | null)[]; refs: (PublishedRef | null)[] }>

export function openGatheredCommit(held: GatheredHeld): GatheredCommit {
  let kept = noEvents()
  let unkept = noEvents()
  let segments: CarriedSegment[] = []
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

  const bytesLeft = (): number => COMMIT_BYTES_MAX - bytes - unkeptBytes - held.bytes() - reserved

  return {
    lines(line, details) {
      unkept.lines.push(line)
      unkept.details.push(details)
      unkeptBytes += eventBytes(line, details)
    },
    ref(ref) {
      unkept.refs.push(ref)
      unkeptBytes += refBytes(ref)
    },
    keep,
    drop,
    segmentOf({ month, file, start }, raw) {
      // Segments are made before the batch is kept, and its events need their room first.
      keep()
      const deflated = deflateSegment(raw)
      const fits = deflated.length + SPARE_BYTES <= bytesLeft()
      segments.push({ month, file, start, bytes: fits ? deflated : STORED_SEGMENT })
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
