import type { EventWire } from '../../protocol/event.ts'
import { nextSeq } from '../../protocol/seq.ts'
import { DaybookError } from '../../client/daybook-error.ts'
import { PAGE_EVENTS } from '../../client/event-pages.ts'
import type { ExpectedNext } from '../../verify/reading/entry-lines.ts'
import { WrongError } from '../../verify/reading/finding.ts'
import { isJsonObject, jsonAgain, objectsOf } from '../../verify/reading/json-values.ts'
import { type MirrorEntry, readEntry } from '../proof/mirror-entry.ts'
import { noDaybook, type Origin } from './open-origin.ts'

/** Bytes of a page of `/events` with details. */
const PAGE_BYTES_MAX: number = 64 * 1024 * 1024

/**
 * Entries from the pages of `/events` up to a seq that the origin has signed, a batch for each page. Throws a
 * `WrongError` when one is missing or cannot come next.
 */
export async function* pageEntries(
  origin: Origin,
  upTo: number,
  next: () => ExpectedNext,
  signal: AbortSignal,
): AsyncGenerator<readonly MirrorEntry[], void> {
  for (let expected = next(); expected.seq <= upTo; expected = next()) {
    const limit = Math.min(PAGE_EVENTS, upTo - expected.seq + 1)
    const path = `events?after=${expected.seq - 1}&limit=${limit}&details=1`
    const page = await origin.json(path, { bytesMax: PAGE_BYTES_MAX }, signal)
    // A gateway may have answered instead of the origin.
    if (page['events'] === undefined) throw noDaybook()
    const events = objectsOf(page['events'])
    const details = page['details']
    if (events === undefined || events.length > limit || !isJsonObject(details))
      throw new WrongError('events', 'a page lacks its events or details')
    // Another node of the origin may be behind the one that gave the checkpoint.
    if (events.length === 0)
      throw new DaybookError('gap', `seq ${expected.seq} is missing, and a checkpoint covers it`)
    const entries: MirrorEntry[] = []
    for (const wire of events) {
      const { seq } = expected
      const entry = readEntry(
        jsonAgain(`seq ${seq}`, wire),
        detailsLineOf(seq, details[String(seq)]),
        expected,
      )
      expected = { seq: nextSeq(seq), notBefore: entry.event.atMs }
      entries.push(entry)
    }
    yield entries
  }
}

/** Details line for an object of a page or the stream; null without details. */
function detailsLineOf(seq: number, details: unknown): string | null {
  return details === undefined || details === null
    ? null
    : `{"seq":${seq},"details":${jsonAgain(`the details of seq ${seq}`, details)}}`
}

/** The entry of an event of the stream. */
export function streamEntry(event: EventWire, details: unknown, expected: ExpectedNext): MirrorEntry {
  const { seq } = expected
  return readEntry(jsonAgain(`seq ${seq}`, event), detailsLineOf(seq, details), expected)
}
