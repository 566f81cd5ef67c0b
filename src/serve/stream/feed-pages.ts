import type { LogFilter, LogReader } from '../../log/store/reader.ts'
import { assert } from '../../protocol/brand.ts'
import type { Seq } from '../../protocol/seq.ts'
import { seqOf } from '../../protocol/seq.ts'
import type { Packet, StreamFraming } from './stream-frame.ts'
import { lastSeqIn, packetOf } from './stream-frame.ts'
import type { StreamLimits } from './limits.ts'

/** A stretch of the log as one feed shows it. It never changes, however long the log grows. */
export type FeedPage = Readonly<{
  /** Its matches, framed; null when it has none. */
  packet: Packet | null
  count: number
  /** The last seq examined: where the next page begins. */
  scannedTo: Seq
  /** Events examined after the last match, or all when there is none. */
  silence: number
}>

/** What all subscribers with one filter and one framing share: a page is read and framed once for them. */
export type Feed = Readonly<{
  framing: StreamFraming
  /** The events after `after`, at most `scanMax` of them examined; there must be one. */
  page(after: Seq, scanMax: number): FeedPage
  /** Gives the feed back; with its last subscriber its pages go. */
  close(): void
}>

export type Pages = Readonly<{
  /** The feed of a filter, to be closed once by whoever asked for it. */
  feed(filter: LogFilter, framing: StreamFraming): Feed
  /** Bytes of the pages kept at present. */
  keptBytes(): number
}>

type Shared = { users: number; readonly pages: Map<Seq, FeedPage> }
type Kept = Readonly<{ shared: Shared; after: Seq; bytes: number }>

/** What a page costs beside its bytes, in bytes. */
const PAGE_OVERHEAD_BYTES = 256

/**
 * Reads pages of the log in one read transaction each, and keeps those near the head for the next subscriber
 * that comes to the same place. The oldest page goes first when `keptBytesMax` is reached.
 */
export function openPages(reader: LogReader, limits: StreamLimits): Pages {
  const feeds = new Map<string, Shared>()
  const kept = new Set<Kept>()
  let keptBytes = 0

  function keep(shared: Shared, after: Seq, page: FeedPage): void {
    // A feed that has lost its last subscriber, or a page made again with another bound, is not kept twice.
    if (shared.users === 0 || shared.pages.has(after)) return
    const bytes = PAGE_OVERHEAD_BYTES + (page.packet?.chunk.byteLength ?? 0)
    shared.pages.set(after, page)
    kept.add({ shared, after, bytes })
    keptBytes += bytes
    for (const oldest of kept) {
      if (keptBytes <= limits.keptBytesMax) break
      drop(oldest)
    }
  }

  function drop(page: Kept): void {
    kept.delete(page)
    page.shared.pages.delete(page.after)
    keptBytes -= page.bytes
  }

  function leave(key: string, shared: Shared): void {
    shared.users -= 1
    if (shared.users > 0) return
    feeds.delete(key)
    if (shared.pages.size === 0) return
    for (const page of kept) if (page.shared === shared) drop(page)
  }

  return {
    feed(filter, framing) {
      const key = feedKey(filter, framing)
      const shared = feeds.get(key) ?? { users: 0, pages: new Map<Seq, FeedPage>() }
      feeds.set(key, shared)
      shared.users += 1
      return {
        framing,
        page(after, scanMax) {
          const known = shared.pages.get(after)
          // A page that scans on beyond the caller's bound would pass the place where it owes a position.
          if (known !== undefined && known.scannedTo - after <= scanMax) return known
          const { page, head } = readPage(reader, limits, { filter, framing, after, scanMax })
          if (head - after <= limits.recentEvents) keep(shared, after, page)
          return page
        },
        close: () => leave(key, shared),
      }
    },
    keptBytes: () => keptBytes,
  }
}

type PageAsk = Readonly<{ filter: LogFilter; framing: StreamFraming; after: Seq; scanMax: number }>

function readPage(
  reader: LogReader,
  limits: StreamLimits,
  ask: PageAsk,
): Readonly<{ page: FeedPage; head: Seq }> {
  const { filter, framing, after, scanMax } = ask
  const { walked, head } = reader.snapshot((snapshot) => ({
    head: snapshot.head.seq,
    walked: snapshot.walk(
      {
        filter,
        tx: null,
        order: 'asc',
        after,
        before: seqOf(snapshot.head.seq + 1),
        limit: limits.pageEventsMax,
        scanMax,
      },
      framing,
    ),
  }))
  const { bytes, count, scannedTo } = walked
  assert(scannedTo > after && scannedTo <= head, `a page after ${after} ends at ${scannedTo} of ${head}`)
  const packet = count === 0 ? null : packetOf(bytes)
  if (packet !== null) {
    const size = packet.chunk.byteLength
    assert(size <= limits.writeBytesMax, `${count} frames after ${after} have ${size} bytes`)
  }
  const lastMatch = packet === null ? after : (lastSeqIn(packet.bare) ?? after)
  return { page: { packet, count, scannedTo, silence: scannedTo - lastMatch }, head }
}

function feedKey(filter: LogFilter, framing: StreamFraming): string {
  const types = filter.types === null ? '*' : filter.types.toSorted().join(',')
  return [framing, types, filter.kind ?? '*', filter.contestId ?? '*', filter.nonzero ? 1 : 0].join(' ')
}
