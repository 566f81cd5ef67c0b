import { WrongError } from './finding.ts'
import { readDetailsLine, readEventLine } from './entry-lines.ts'
import { objectsOf, readObject } from './json-values.ts'
import type { ListedMonth } from './manifest.ts'
import type { ReadingPosition, PublishedEntry } from './month-entries.ts'
import { firstPosition, leafOf, monthEntries } from './month-entries.ts'
import type { Primitives } from './primitives.ts'
import type { Source } from './source.ts'
import { nextSeq } from '../../protocol/seq.ts'
import { parseUtf8 } from '../../tlog/text.ts'

/** Events that may be missing at the archive's end: the details of each are a request of their own. */
const TAIL_EVENTS_MAX = 200

/**
 * The first `size` entries of the log, some at a time: month by month from the archive and, where a node's archive lags
 * behind the checkpoint, one by one. Anything that is not what must come next is wrong.
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
    // A month is read to its end, where its digests are held against it, though the checkpoint may end within it.
    for await (const entries of monthEntries(source, month, place, primitives)) {
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
    throw new WrongError(missing, 'is missing, and what follows: the archive ends before')
  const address = `events?after=${after}&limit=${count}`
  const body = await source.read(address)
  if (body === undefined)
    throw new WrongError(missing, 'is missing: the archive ends before the checkpoint does')
  const events = objectsOf(readObject(address, body)['events'])
  if (events?.length !== count) throw new WrongError(missing, 'or one soon after it is missing')
  const entries: PublishedEntry[] = []
  for (const wire of events) {
    const line = JSON.stringify(wire)
    const event = readEventLine(line, place.next)
    const detailsAddress = `events/${event.seq}/details`
    const text = parseUtf8((await source.read(detailsAddress)) ?? new Uint8Array(0)) ?? ''
    const none = `{"seq":${event.seq},"details":null}`
    const said = text === none ? null : readDetailsLine(detailsAddress, text)
    if (said !== null && said.seq !== event.seq) throw new WrongError(detailsAddress, 'is of another event')
    entries.push({
      entry: { event, details: said?.details ?? null },
      leaf: leafOf(event.seq, line, said?.line ?? null),
    })
    place.next = { seq: nextSeq(event.seq), notBefore: event.atMs }
  }
  return entries
}
