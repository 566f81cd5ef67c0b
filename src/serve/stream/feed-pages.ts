import type { LogFilter, LogReader, Snapshot, Walk } from '../../log/store/reader.ts'
import { assert } from '../../protocol/brand.ts'
import { nextSeq, type Seq, seqOf } from '../../protocol/seq.ts'
import { lastSeqIn, type Packet, packetOf, type StreamFraming } from './stream-frame.ts'
import { pageBytesMax, type StreamLimits } from './limits.ts'

/** Part of the log for one feed. It never changes. */
export type FeedPage = Readonly<{
  /** Its framed matches; null when it has none. */
  packet: Packet | null
  count: number
  /** Last scanned seq. The next page starts after it. */
  scannedTo: Seq
  /** Events scanned after the last match, or all when there is none. */
  unmatched: number
  /** Seq up to which no event after `scannedTo` matches, from an index; at least `scannedTo`. */
  clearTo: Seq
}>

/** Pages shared by all subscribers with the same filter and framing. Each page is read and framed once. */
export type Feed = Readonly<{
  framing: StreamFraming
  /** Page after `after`, which scans at most `scanMax` events. There must be an event after `after`. */
  page(after: Seq, scanMax: number): FeedPage
  /** Releases the feed. Its pages are dropped with its last subscriber. */
  close(): void
}>

type Pages = Readonly<{
  /** Feed of a filter. The caller must close it once. */
  feed(filter: LogFilter, framing: StreamFraming, details: boolean): Feed
  /** Bytes of the cached pages. */
  cachedBytes(): number
}>

type SharedFeed = { users: number; readonly pages: Map<Seq, FeedPage> }
type CachedPage = Readonly<{ shared: SharedFeed; after: Seq; bytes: number }>

/** Memory of a cached page besides its bytes. */
const PAGE_OVERHEAD_BYTES = 256

/**
 * Opens the cache of pages. Each page is read in one transaction. Pages near the head are cached for other subscribers.
 * At `cachedBytesMax` the oldest page is dropped first.
 */
export function openFeedPages(reader: LogReader, limits: StreamLimits): Pages {
  const feeds = new Map<string, SharedFeed>()
  const cached = new Set<CachedPage>()
  let cachedBytes = 0

  function cache(shared: SharedFeed, after: Seq, page: FeedPage): void {
    // The feed may have lost its last subscriber, or the page may be cached with another bound.
    if (shared.users === 0 || shared.pages.has(after)) return
    const bytes = PAGE_OVERHEAD_BYTES + (page.packet?.chunk.byteLength ?? 0)
    shared.pages.set(after, page)
    cached.add({ shared, after, bytes })
    cachedBytes += bytes
    for (const oldest of cached) {
      if (cachedBytes <= limits.cachedBytesMax) break
      drop(oldest)
    }
  }

  function drop(page: CachedPage): void {
    cached.delete(page)
    page.shared.pages.delete(page.after)
    cachedBytes -= page.bytes
  }

  function leave(key: string, shared: SharedFeed): void {
    shared.users -= 1
    if (shared.users > 0) return
    feeds.delete(key)
    if (shared.pages.size === 0) return
    for (const page of cached) if (page.shared === shared) drop(page)
  }

  return {
    feed(filter, framing, details) {
      const key = `${feedKey(filter, framing)}${details ? ' details' : ''}`
      const shared = feeds.get(key) ?? { users: 0, pages: new Map<Seq, FeedPage>() }
      feeds.set(key, shared)
      shared.users += 1
      return {
        framing,
        page(after, scanMax) {
          const known = shared.pages.get(after)
          // A page that scans more than `scanMax` would pass the seq at which a position is due.
          if (known !== undefined && known.scannedTo - after <= scanMax) return known
          const { page, head } = readPage(reader, limits, { filter, framing, details, after, scanMax })
          if (head - after <= limits.cachedLagEventsMax) cache(shared, after, page)
          return page
        },
        close: () => leave(key, shared),
      }
    },
    cachedBytes: () => cachedBytes,
  }
}

type PageRequest = Readonly<{
  filter: LogFilter
  framing: StreamFraming
  details: boolean
  after: Seq
  scanMax: number
}>

function readPage(
  reader: LogReader,
  limits: StreamLimits,
  ask: PageRequest,
): Readonly<{ page: FeedPage; head: Seq }> {
  const { filter, framing, details, after, scanMax } = ask
  const { walked, head, clearTo } = reader.snapshot((snapshot) => {
    const beyond = nextSeq(snapshot.head.seq)
    const walk: Walk = {
      filter,
      tx: null,
      order: 'asc',
      after,
      before: seqOf(Math.min(beyond, after + scanMax + 1)),
      limit: limits.pageEventsMax,
      examineMax: scanMax,
    }
    // An event and its details are in one page, so that no resume can separate them.
    const page = details
      ? snapshot.detailedWalk(walk, framing, pageBytesMax(limits))
      : snapshot.walk(walk, framing)
    return {
      walked: page,
      head: snapshot.head.seq,
      clearTo:
        page.count > 0 ? page.scannedTo : clearAfter(snapshot, { ...walk, before: beyond }, page.scannedTo),
    }
  })
  const { bytes, count, scannedTo } = walked
  assert(scannedTo > after && scannedTo <= head, `a page after ${after} ends at ${scannedTo} of ${head}`)
  const packet = count === 0 ? null : packetOf(bytes)
  if (packet !== null) {
    const size = packet.chunk.byteLength
    assert(size <= limits.writeBytesMax, `${count} frames after ${after} have ${size} bytes`)
  }
  const lastMatch = packet === null ? after : (lastSeqIn(packet.bare) ?? after)
  return { page: { packet, count, scannedTo, unmatched: scannedTo - lastMatch, clearTo }, head }
}

/** Seq before the next match, from an index; `scannedTo` when no index can tell. */
function clearAfter(snapshot: Snapshot, walk: Walk, scannedTo: Seq): Seq {
  const { types, kinds, contestIds } = walk.filter
  const isIndexed = types !== null || kinds !== null || contestIds !== null
  if (!isIndexed || scannedTo >= snapshot.head.seq) return scannedTo
  const next = snapshot.walk({ ...walk, after: scannedTo, limit: 1 }, 'ndjson')
  return next.count === 0 ? next.scannedTo : seqOf(next.scannedTo - 1)
}

function feedKey({ types, kinds, contestIds, nonzero }: LogFilter, framing: StreamFraming): string {
  const lists = [types, kinds, contestIds].map((list) => list?.map(String).toSorted().join(',') ?? '*')
  return [framing, ...lists, nonzero ? 1 : 0].join(' ')
}
