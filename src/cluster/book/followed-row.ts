import type { Appender } from '../../log/append.ts'
import type { SegmentOf } from '../../log/archive/archive-writer.ts'
import { inflatesTo, storeSegment } from '../../log/archive/gzip-member.ts'
import { entryOfRow } from '../../log/books/stored-repository.ts'
import type { CommitRow, RowSegment } from '../row/log-row.ts'
import type { MonthFile } from '../../log/store/reader.ts'
import { type Entry, formatEvent } from '../../protocol/event.ts'
import type { Month } from '../../protocol/moment.ts'

/** Error for a row that does not fit the books, with the reason. */
export class UnfitRow extends Error {
  override readonly name = 'UnfitRow'
  /** Whether the row follows another row than the newest one of the books. */
  readonly isOfOtherBranch: boolean

  constructor(reason: string, isOfOtherBranch = false) {
    super(reason)
    this.isOfOtherBranch = isOfOtherBranch
  }
}

/** Commit of another node, while its events are appended. */
export type FollowedRow = Readonly<{
  segmentOf: SegmentOf
  /** Stored signature of the tree of this size, for moved history; null otherwise. */
  signatureAt(size: number): Uint8Array | null
  /** Signed note of a month that ended with the tree of this size; undefined for a commit made on the table. */
  noteAt(size: number): string | undefined
  /** Throws when segments are left that no event has ended. */
  end(): void
}>

export function followRow({ segments, moved }: CommitRow): FollowedRow {
  const left = new Map(segments.map((segment) => [nameOf(segment), segment]))
  const signatures = new Map(moved?.signatures.map(({ size, bytes }) => [size, bytes]))
  const notes = new Map(moved?.notes.map(({ size, note }) => [size, note]))
  return {
    segmentOf(place, raw) {
      const name = nameOf(place)
      const segment = left.get(name)
      if (segment === undefined) throw new UnfitRow(`it lacks the segment ${name}`)
      left.delete(name)
      if (segment.bytes.length === 0) return storeSegment(raw)
      if (!inflatesTo(segment.bytes, raw)) throw new UnfitRow(`its segment ${name} does not hold its lines`)
      return segment.bytes
    },
    signatureAt: (size) => signatures.get(size) ?? null,
    noteAt(size) {
      const note = notes.get(size)
      if (moved !== null && note === undefined)
        throw new UnfitRow(`it closes a month at seq ${size} without its note`)
      return note
    },
    end() {
      for (const name of left.keys())
        throw new UnfitRow(`it carries the segment ${name}, which does not end here`)
    },
  }
}

function nameOf({
  month,
  file,
  start,
}: Pick<RowSegment, 'start'> & { month: Month; file: MonthFile }): string {
  return `of ${month} (${file}) at byte ${start}`
}

/** Appends the events of a commit, with their lines as they are. Throws `UnfitRow`. */
export function followLines(appender: Appender, { first, lines, details, refs }: CommitRow): void {
  for (const [index, line] of lines.entries()) {
    const detailsLine = details[index] ?? null
    const entry = entryOf(line, detailsLine, first + index)
    const { atMs } = appender.head()
    if (atMs !== null && entry.event.atMs < atMs)
      throw new UnfitRow(`seq ${first + index} is before the event before it`)
    appender.follow(entry, { line, detailsLine }, refs[index] ?? null)
  }
}

function entryOf(line: string, details: string | null, seq: number): Entry {
  let entry: Entry | undefined
  try {
    entry = entryOfRow({ line, details })
  } catch {
    // Not JSON, or not an amount.
  }
  if (entry?.event.seq !== seq || formatEvent(entry.event) !== line)
    throw new UnfitRow(`seq ${seq} is no event`)
  if (details !== null && !details.startsWith(`{"seq":${seq},"details":{`)) {
    throw new UnfitRow(`seq ${seq} has details of another event`)
  }
  return entry
}
