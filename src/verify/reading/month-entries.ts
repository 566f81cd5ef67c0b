import type { Entry } from '../../protocol/event.ts'
import { boundOf, type Month, monthOf } from '../../protocol/moment.ts'
import type { Digest } from '../../protocol/endpoints/file-endpoints.ts'
import { BEFORE_FIRST, nextSeq, type Seq } from '../../protocol/seq.ts'
import { ENTRY_BYTES_MAX, formatEntry } from '../../tlog/entries.ts'
import { hex } from '@scure/base'
import { type DetailsLine, type ExpectedNext, readDetailsLine, readEventLine } from './entry-lines.ts'
import { WrongError } from './finding.ts'
import type { ListedMonth } from './manifest.ts'
import type { Primitives } from './primitives.ts'
import type { Source } from './source.ts'
import { jsonAgain, objectsOf, readObject } from './json-values.ts'
import { parseUtf8 } from '../../tlog/note.ts'

/** Most events that are read one by one after the end of the archive. Each needs a request for its details. */
const TAIL_EVENTS_MAX = 200

/** Published entry with the bytes of its leaf. */
export type PublishedEntry = Readonly<{ entry: Entry; leaf: Uint8Array }>

/** Position of the reader, which advances in place from month to month. */
type ReadingPosition = { next: ExpectedNext }

/** Position before the first event. */
export function firstPosition(): ReadingPosition {
  return { next: { seq: nextSeq(BEFORE_FIRST), notBefore: boundOf(0) } }
}

/**
 * Entries of a month from its two files, in batches. Checks the digests of a closed month against its manifest, and
 * each line against the previous one. The files of an open month must have the events that a checkpoint of `size`
 * entries signs.
 */
export async function* monthEntries(
  source: Source,
  { month, manifest }: ListedMonth,
  place: ReadingPosition,
  primitives: Primitives,
  size: number,
): AsyncGenerator<readonly PublishedEntry[]> {
  const eventsFile = `archive/${month}.jsonl.gz`
  const detailsFile = `archive/${month}.details.jsonl.gz`
  const expected = manifest === null ? null : { ...manifest.details, of: manifest.details.lines }
  // Each file may come from another node. On a node the month is closed when it has the event after it.
  const covers = manifest === null ? size : manifest.size + 1
  const fewer = manifest === null ? Math.max(1, size - TAIL_EVENTS_MAX) : covers
  const packedDetails = await readFile(source, detailsFile, covers, expected, primitives)
  const packedEvents = await readFile(source, eventsFile, fewer, manifest?.gzip ?? null, primitives)
  const first = place.next.seq
  if (manifest !== null && manifest.firstSeq !== null && manifest.firstSeq !== first) {
    throw new WrongError(`archive/${month}.json`, `firstSeq is not ${first}, the next seq`)
  }

  const details = openDetails(
    detailsFile,
    checkedPieces(detailsFile, packedDetails, expected?.of ?? null, primitives),
  )
  for await (const lines of unpackedLines(
    eventsFile,
    checkedPieces(eventsFile, packedEvents, manifest?.lines ?? null, primitives),
  )) {
    const entries: PublishedEntry[] = []
    for (const line of lines) {
      const event = readEventLine(line, place.next)
      if (monthOf(event.atMs) !== month) throw new WrongError(`seq ${event.seq}`, `is not of ${month}`)
      const found = await details.of(event.seq)
      const leaf = leafOf(event.seq, line, found?.line ?? null)
      entries.push({ entry: { event, details: found?.details ?? null }, leaf })
      place.next = { seq: nextSeq(event.seq), notBefore: event.atMs }
    }
    yield entries
  }
  if (manifest !== null && place.next.seq - first !== manifest.events) {
    throw new WrongError(
      eventsFile,
      `has ${place.next.seq - first} events, and its manifest has another number`,
    )
  }
  // The manifest of a month without events has no seq that ties its size to the log.
  if (manifest !== null && manifest.size !== place.next.seq - 1)
    throw new WrongError(`archive/${month}.json`, `size is not ${place.next.seq - 1}`)
  await details.end(month, manifest !== null ? place.next.seq : null)
}

/** Bytes of a leaf. Throws a `WrongError` when there are too many. */
export function leafOf(seq: number, line: string, details: string | null): Uint8Array {
  try {
    return formatEntry(line, details)
  } catch (cause) {
    throw new WrongError(`seq ${seq}`, 'is longer than an entry may be', { cause })
  }
}

async function readFile(
  source: Source,
  place: string,
  covers: number,
  digest: Digest | null,
  { sha256 }: Primitives,
): Promise<Uint8Array> {
  const file = await source.read(place, covers)
  if (file === undefined) throw new WrongError(place, 'is missing')
  if (digest === null) return file
  if (file.length !== digest.bytes) throw new WrongError(place, 'its size is not that of its manifest')
  if (hex.encode(sha256(file)) !== digest.sha256)
    throw new WrongError(place, 'its SHA-256 is not that of its manifest')
  return file
}

/** Unpacked bytes of a file. Checks their digest after the last piece. */
async function* checkedPieces(
  place: string,
  file: Uint8Array,
  digest: Digest | null,
  { openSha256 }: Primitives,
): AsyncGenerator<Uint8Array> {
  const running = openSha256()
  let bytes = 0
  for await (const piece of unpacked(place, file)) {
    running.update(piece)
    bytes += piece.length
    yield piece
  }
  if (digest === null) return
  if (bytes !== digest.bytes || hex.encode(running.digest()) !== digest.sha256) {
    throw new WrongError(place, 'the SHA-256 of its lines is not that of its manifest')
  }
}

/** Reader of the lines of details, in step with the events. */
type DetailsReader = Readonly<{
  /** Details of an event; null when it has none. Seqs must ascend. */
  of(seq: number): Promise<DetailsLine | null>
  /** Checks that no details are left. `end` is null in an open month, whose details file may be longer. */
  end(month: Month, end: number | null): Promise<void>
}>

function openDetails(place: string, pieces: AsyncIterable<Uint8Array>): DetailsReader {
  const batches = unpackedLines(place, pieces)[Symbol.asyncIterator]()
  let lines: readonly string[] = []
  let at = 0
  let pending: DetailsLine | null = null
  let last = 0

  async function advance(): Promise<void> {
    while (at >= lines.length) {
      const batch = await batches.next()
      if (batch.done === true) return
      lines = batch.value
      at = 0
    }
    const line = lines[at++]
    if (line === undefined) return
    pending = readDetailsLine(place, line)
    if (pending.seq <= last) throw new WrongError(`the details of seq ${pending.seq}`, 'are out of order')
    last = pending.seq
  }

  return {
    async of(seq) {
      if (pending === null) await advance()
      if (pending === null || pending.seq > seq) return null
      if (pending.seq < seq)
        throw new WrongError(`the details of seq ${pending.seq}`, 'belong to no event of this month')
      const found = pending
      pending = null
      return found
    },
    async end(month, end) {
      if (end === null) return
      if (pending === null) await advance()
      if (pending !== null) throw new WrongError(place, `has details of an event that is not in ${month}`)
    },
  }
}

/**
 * First `size` entries of the log, in batches. Reads month by month from the archive, then one by one where a node's
 * archive is behind the checkpoint. Throws a `WrongError` at the first entry that cannot come next.
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

/** Entry of an event from its own addresses. Throws a `WrongError` when one is missing or malformed. */
export async function publishedEntry(source: Source, seq: Seq): Promise<PublishedEntry> {
  const line = parseUtf8((await source.read(`events/${seq}`, seq)) ?? new Uint8Array(0)) ?? ''
  return withDetails(source, line, { seq, notBefore: boundOf(0) })
}

/** Entry of an event's line, with its details from their own address. */
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

/** Unpacked bytes of a gzip file, in pieces. Rejects unless the file is exactly one complete gzip member. */
export async function* unpacked(place: string, file: Uint8Array): AsyncGenerator<Uint8Array> {
  const pieces = new Blob([new Uint8Array(file)]).stream().pipeThrough(new DecompressionStream('gzip'))
  const reader = pieces.getReader()
  try {
    for (;;) {
      const next = await reader.read()
      if (next.done) return
      yield next.value
    }
  } catch (cause) {
    if (cause instanceof WrongError) throw cause
    throw new WrongError(place, 'is not a complete gzip file', { cause })
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}

/** Lines of unpacked bytes without line feeds, in one batch for each piece. The last line must end with one too. */
export async function* unpackedLines(
  place: string,
  pieces: AsyncIterable<Uint8Array>,
): AsyncGenerator<readonly string[]> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  let rest = ''
  for await (const piece of pieces) {
    const lines = (rest + decode(place, () => decoder.decode(piece, { stream: true }))).split('\n')
    rest = lines.pop() ?? ''
    // Without this limit, a line that never ends would fill the memory.
    if (rest.length > ENTRY_BYTES_MAX) throw new WrongError(place, 'has a line that is too long')
    yield lines
  }
  rest += decode(place, () => decoder.decode())
  if (rest !== '') throw new WrongError(place, 'has a last line without a line feed')
}

function decode(place: string, text: () => string): string {
  try {
    return text()
  } catch (cause) {
    throw new WrongError(place, 'is not UTF-8', { cause })
  }
}
