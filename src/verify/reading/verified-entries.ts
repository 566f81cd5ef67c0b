import { WrongError } from './finding.ts'
import { type ExpectedNext, readDetailsLine, readEventLine } from './entry-lines.ts'
import { jsonAgain, objectsOf, readObject } from './json-values.ts'
import type { ListedMonth } from './manifest.ts'
import {
  firstPosition,
  leafOf,
  monthEntries,
  type PublishedEntry,
  type ReadingPosition,
  TAIL_EVENTS_MAX,
} from './month-entries.ts'
import type { Primitives } from './primitives.ts'
import type { Source } from './source.ts'
import { nextSeq, type Seq } from '../../protocol/seq.ts'
import { boundOf } from '../../protocol/moment.ts'
import { parseUtf8 } from '../../tlog/text.ts'

/**
 * First `size` entries of the log, in batches: month by month from the archive, then one by one where the archive of a
 * node is behind the checkpoint. Throws a `WrongError` at the first entry that cannot come next.
 */
export async function* entriesOf(
  source: Source,
  months: readonly ListedMonth[],
  size: number,
  primitives: Primitives,
): AsyncGenerator<readonly PublishedEntry[]> {
  const place = firstPosition()
  const left = (): number => size - place.next.seq + 1
  for (const month of months) {
    if (left() < 0) return
    // A month is read to its end, where its digests are checked, even if the checkpoint ends before.
    for await (const entries of monthEntries(source, month, place, primitives, size)) {
      const tooMany = Math.min(entries.length, Math.max(0, -left()))
      yield entries.slice(0, entries.length - tooMany)
    }
  }
  if (left() > 0) yield await tail(source, place, left())
}

async function tail(
  source: Source,
  place: ReadingPosition,
  count: number,
): Promise<readonly PublishedEntry[]> {
  const after = place.next.seq - 1
  const missing = `seq ${place.next.seq}`
  if (count > TAIL_EVENTS_MAX)
    throw new WrongError(missing, 'and later ones are missing: the archive ends before')
  const address = `events?after=${after}&limit=${count}`
  const body = await source.read(address, after + count)
  if (body === undefined)
    throw new WrongError(missing, 'is missing: the archive ends before the checkpoint does')
  const events = objectsOf(readObject(address, body)['events'])
  if (events?.length !== count) throw new WrongError(missing, 'or one of the next is missing')
  const entries: PublishedEntry[] = []
  for (const wire of events) {
    const published = await withDetails(source, jsonAgain(address, wire), place.next)
    const { event } = published.entry
    entries.push(published)
    place.next = { seq: nextSeq(event.seq), notBefore: event.atMs }
  }
  return entries
}

/** Entry of an event by its own addresses. Throws a `WrongError` when one is missing or malformed. */
export async function publishedEntry(source: Source, seq: Seq): Promise<PublishedEntry> {
  const line = parseUtf8((await source.read(`events/${seq}`, seq)) ?? new Uint8Array(0)) ?? ''
  return withDetails(source, line, { seq, notBefore: boundOf(0) })
}

/** Entry of an event's line, with the details from their own address. */
async function withDetails(source: Source, line: string, next: ExpectedNext): Promise<PublishedEntry> {
  const event = readEventLine(line, next)
  const address = `events/${event.seq}/details`
  const text = parseUtf8((await source.read(address, event.seq)) ?? new Uint8Array(0)) ?? ''
  const none = `{"seq":${event.seq},"details":null}`
  const found = text === none ? null : readDetailsLine(address, text)
  if (found !== null && found.seq !== event.seq) throw new WrongError(address, 'belongs to another event')
  return {
    entry: { event, details: found?.details ?? null },
    leaf: leafOf(event.seq, line, found?.line ?? null),
  }
}
