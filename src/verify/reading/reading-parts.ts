import type { Daybook } from '../../client/daybook.ts'
import type { DetailedEvent } from '../../client/event-details.ts'
import { ARCHIVE_EVENTS_MIN } from '../../client/follow.ts'
import type { EventWire } from '../../protocol/event.ts'
import { PAGE_LIMIT_MAX } from '../../protocol/parameters.ts'
import { LAG_ATTEMPTS, LAG_MS, nodeBehind } from './live-source.ts'

/** Month of the archive with its seqs; null in a month without events. */
export type ListedSeqs = Readonly<{ month: string; firstSeq: number | null; lastSeq: number | null }>

/** Part of the log that is read from the file of a month, or in pages (null). `after` exclusive, `end` inclusive. */
export type ReadingPart = Readonly<{ month: string | null; after: number; end: number }>

/** Events of a month from which its two files need fewer requests than pages with details. */
export const DETAILED_FILE_EVENTS_MIN: number = 2 * PAGE_LIMIT_MAX

/** Splits a range into parts. A month with `fileEventsMin` events in the range is read from its file. */
export function readingParts(
  months: readonly ListedSeqs[],
  after: number,
  end: number,
  fileEventsMin: number = ARCHIVE_EVENTS_MIN,
): readonly ReadingPart[] {
  const parts: ReadingPart[] = []
  for (const { month, firstSeq, lastSeq } of months) {
    if (firstSeq === null || lastSeq === null) continue
    const [from, to] = [Math.max(after, firstSeq - 1), Math.min(end, lastSeq)]
    if (to <= from) continue
    const last = parts.at(-1)
    const isFile = to - from >= fileEventsMin
    if (!isFile && last?.month === null) parts[parts.length - 1] = { ...last, end: to }
    else parts.push({ month: isFile ? month : null, after: from, end: to })
  }
  return parts
}

/** Events of a part up to its end. The last batch may go beyond it. */
export function readEvents(
  daybook: Daybook,
  part: ReadingPart,
  signal: AbortSignal,
): AsyncIterable<readonly EventWire[]> {
  return wholePart(part, pauseOf(daybook, signal), {
    seqOf: ({ seq }) => seq,
    open({ month, after, end }) {
      if (month !== null) return daybook.month(month, { after, signal }).batches()
      return daybook.events({ after, limit: pageSize(after, end), signal }).batches()
    },
  })
}

/** The same with the details of each event. */
export function readDetailedEvents(
  daybook: Daybook,
  part: ReadingPart,
  signal: AbortSignal,
): AsyncIterable<readonly DetailedEvent[]> {
  return wholePart(part, pauseOf(daybook, signal), {
    seqOf: ({ event }) => event.seq,
    open({ month, after, end }) {
      if (month !== null) return daybook.month(month, { after, signal, details: true }).batches()
      return daybook.events({ after, limit: pageSize(after, end), signal, details: true }).batches()
    },
  })
}

function pageSize(after: number, end: number): number {
  return Math.min(PAGE_LIMIT_MAX, end - after)
}

function pauseOf({ around }: Daybook, signal: AbortSignal): () => Promise<void> {
  return () => around.sleep(LAG_MS, signal)
}

/** Source of events in batches, and the seq of one of them. */
type PartSource<One> = Readonly<{
  open(part: ReadingPart): AsyncIterable<readonly One[]>
  seqOf(one: One): number
}>

/** Reads a part that another node has shown. A node that ends before it is asked again for a few seconds. */
async function* wholePart<One>(
  part: ReadingPart,
  pause: () => Promise<void>,
  { open, seqOf }: PartSource<One>,
): AsyncGenerator<readonly One[], void, undefined> {
  let last = part.after
  for (let attempt = 1; ; attempt++) {
    for await (const batch of open({ ...part, after: last })) {
      const end = batch.at(-1)
      last = end === undefined ? last : seqOf(end)
      yield batch
    }
    if (last >= part.end) return
    if (attempt >= LAG_ATTEMPTS) throw nodeBehind('the list of events', last, part.end)
    await pause()
  }
}
