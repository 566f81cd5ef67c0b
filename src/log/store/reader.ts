import type { Books, Head } from '../../project/fold/books.ts'
import type { Month, Ms } from '../../protocol/moment.ts'
import type { EventType } from '../../protocol/rules.ts'
import type { ContestId, Seq } from '../../protocol/seq.ts'

/** What a log is, fixed when it is created. */
export type LogIdentity = Readonly<{
  /** Random, 32 hex digits: another log, or a restored one, has another. */
  id: string
  origin: string
  chain: 'solana' | 'evm' | 'opaque'
  simulated: boolean
  /** The logs that this one goes on from: what was lost of them was given up. The oldest first. */
  former: readonly FormerLog[]
}>

/** A log that ended when its store was put back from an older copy; `size` events of it are in this one. */
export type FormerLog = Readonly<{ id: string; origin: string; size: number }>

/** A key of the log. It signs trees larger than `fromSize`, up to `toSize` when it is retired. */
export type ListedKey = Readonly<{
  vkey: string
  fromSize: number
  toSize: number | null
  /** A signed note in which an older key vouches for this one. */
  statement: string | null
}>

/** Which events a reader asks for; null = every. */
export type LogFilter = Readonly<{
  types: readonly EventType[] | null
  kind: string | null
  contestId: ContestId | null
  nonzero: boolean
}>

/** A walk over a stretch of the log, `after` and `before` exclusive. */
export type Walk = Readonly<{
  filter: LogFilter
  /** The transaction that events must name: then only those that do are examined. Null = any, and none. */
  tx: string | null
  order: 'asc' | 'desc'
  after: Seq
  /** The exclusive upper bound; at most head + 1. */
  before: Seq
  /** Matches to return at most. */
  limit: number
  /** Entries to examine at most. */
  scanMax: number
}>

/** How the matches of a walk are written; one shape of bytes per way out, made inside the store. */
export type Framing = 'json' | 'csv' | 'sse' | 'ndjson'

export type Walked = Readonly<{
  /** The matches: JSON elements joined by commas, CSV rows, SSE frames, or JSON lines. */
  bytes: Uint8Array
  count: number
  /**
   * The last event's seq when `limit` was reached, else the last seq examined: with a `tx` that is the end of the
   * stretch, unless `scanMax` events that name it were examined.
   */
  scannedTo: Seq
  /** Whether the stretch goes on past `scannedTo`. */
  hasMore: boolean
}>

/** A month of the archive. An open month grows, a closed one never changes. */
export type MonthState = Readonly<{
  month: Month
  closed: boolean
  events: number
  firstSeq: Seq | null
  /** The last seq; of the open month the head. */
  lastSeq: Seq | null
  /** The manifest, JSON, of a closed month. */
  manifest: string | null
}>

/** One of the two files of a month. */
export type MonthFile = 'events' | 'details'

/**
 * A month's gzip file at one head: `storedBytes` bytes to read chunk by chunk, then `ending` (what is not stored
 * yet, compressed, and the trailer). Its size is the sum of both.
 */
export type MonthLayout = Readonly<{ storedBytes: number; ending: Uint8Array }>

/** A kind that has been seen, with the first and the newest event that had it. */
export type KindSeen = Readonly<{ type: EventType; kind: string; firstSeq: Seq; lastSeq: Seq }>

/** The tree over the events of a snapshot, as the files of C2SP tlog-tiles. Paths are those below the log's prefix. */
export type TreeFiles = Readonly<{
  /** The signed checkpoint of all events, also of none. */
  checkpoint(): string
  /** The hashes at `tile/<L>/<N>[.p/<W>]`: they never change. Undefined where the tree has no such tile. */
  tile(path: string): Uint8Array | undefined
  /** The entries at `tile/entries/<N>[.p/<W>]`: they never change. Undefined where the tree has none. */
  entries(path: string): Uint8Array | undefined
  /** The receipt of an event: its inclusion proof and the checkpoint. Undefined when the seq is not in the log. */
  receipt(seq: Seq): string | undefined
}>

/** What one synchronous read transaction sees: everything up to one head. */
export type Snapshot = Readonly<{
  head: Head
  books: Books
  /** An event's exact line; undefined when the seq is not in the log. */
  line(seq: Seq): Uint8Array | undefined
  /** The details' line, `{"seq":N,"details":null}` when there are none; undefined when there is no such event. */
  detailsLine(seq: Seq): string | undefined
  /** The last seq whose event has `at` < `ms`; 0 when there is none. */
  seqBefore(ms: Ms): Seq
  walk(walk: Walk, framing: Framing): Walked
  kinds(): readonly KindSeen[]
  /** Every month from the first event's to the head's, empty ones included, ascending. */
  months(): readonly MonthState[]
  month(month: Month): MonthState | undefined
  /** How a month's file stands at this snapshot's head; undefined when there is no such month. */
  monthLayout(month: Month, file: MonthFile): MonthLayout | undefined
  /**
   * The first bytes of the stretch `from` (inclusive) to `to` (exclusive) of a month's stored bytes: at least one,
   * at most 1 MiB. Stored bytes never change, so a file begun in one snapshot may be read on in later ones.
   */
  monthChunk(month: Month, file: MonthFile, from: number, to: number): Uint8Array
  tree: TreeFiles
  /** Every key that signs or ever signed the log, the oldest first. */
  keys(): readonly ListedKey[]
}>

/** A log as its readers have it: one per thread. */
export type LogReader = Readonly<{
  identity: LogIdentity
  /** The newest head this thread has moved to; `snapshot` moves it first when a newer one is committed. */
  head(): Head
  /** Runs `ask` in one read transaction. It must not await: no statement stays open over an await. */
  snapshot<T>(ask: (snapshot: Snapshot) => T): T
  /** Calls back after this thread's head moved; returns the way to stop. */
  onHead(listener: (head: Head) => void): () => void
  close(): void
}>
