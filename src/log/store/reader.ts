import type { Books, Head } from '../../project/fold/books.ts'
import type { Month, Ms } from '../../protocol/moment.ts'
import type { EventType } from '../../protocol/rules.ts'
import type { ContestId, Seq } from '../../protocol/seq.ts'
import type { WITNESS_STATES } from '../../protocol/enumerations.ts'

/** The identity of a log, fixed when it is created. */
export type LogIdentity = Readonly<{
  /** 32 random hex digits. A log that continues after a loss gets a new id. */
  id: string
  origin: string
  chain: 'solana' | 'evm' | 'opaque'
  simulated: boolean
  /** Logs that this one continues after a loss, the oldest first. */
  former: readonly FormerLog[]
}>

/** A log that ended when its store was restored from an older copy. Its first `size` events are in this log. */
export type FormerLog = Readonly<{ id: string; origin: string; size: number }>

/** A key of the log. It signs trees of `fromSize` and larger, up to `toSize` once it is retired. */
export type ListedKey = Readonly<{
  vkey: string
  fromSize: number
  toSize: number | null
  /** A note about this key that an older key has signed; null when none has. */
  statement: string | null
}>

/** Filter of events; null matches all, an empty list none. */
export type LogFilter = Readonly<{
  types: readonly EventType[] | null
  kinds: readonly string[] | null
  contestIds: readonly ContestId[] | null
  nonzero: boolean
}>

/** A walk over the seqs between `after` and `before`, both exclusive. */
export type Walk = Readonly<{
  filter: LogFilter
  /** The transaction that events must name. Null matches any and none. */
  tx: string | null
  order: 'asc' | 'desc'
  after: Seq
  /** The exclusive upper bound; at most head + 1. */
  before: Seq
  /** Matches to return at most. */
  limit: number
  /** With `nonzero`, events that pass the rest of the filter to examine at most. Otherwise without effect. */
  examineMax: number
}>

/** Format in which a walk returns its matches. */
export type Framing = 'json' | 'csv' | 'sse' | 'ndjson'

export type WalkResult = Readonly<{
  /** The matches: JSON elements joined by commas, CSV rows, SSE frames, or JSON lines. */
  bytes: Uint8Array
  count: number
  /**
   * The last match when `limit` was reached, and the last seq examined when `examineMax` were. Otherwise the end of the
   * range: every match is found.
   */
  scannedTo: Seq
  /** Whether the range continues past `scannedTo`. */
  hasMore: boolean
}>

/** A `WalkResult` with details. It also ends at a limit of bytes; then `hasMore` is true. */
export type DetailedWalk = WalkResult &
  Readonly<{
    /** In JSON the members of an object, `"<seq>":{…}` joined by commas. In other framings they are in `bytes`. */
    details: Uint8Array
  }>

/** A month of the archive. The open month grows; a closed one never changes. */
export type MonthState = Readonly<{
  month: Month
  closed: boolean
  events: number
  firstSeq: Seq | null
  /** The last seq; the head for the open month. */
  lastSeq: Seq | null
  /** The manifest of a closed month, as JSON. */
  manifest: string | null
}>

/** One of the two files of a month. */
export type MonthFile = 'events' | 'details'

/**
 * A month's gzip file at one head: `storedBytes` bytes to read chunk by chunk, then `ending`. The ending is the
 * compressed lines after the last segment, and the trailer.
 */
export type MonthLayout = Readonly<{ storedBytes: number; ending: Uint8Array }>

/** A type and kind of the log's events, with the first and the newest seq. */
export type KindSeen = Readonly<{ type: EventType; kind: string; firstSeq: Seq; lastSeq: Seq }>

/** The tree files of a snapshot (C2SP tlog-tiles). Paths are relative to the log's prefix. */
export type TreeFiles = Readonly<{
  /** The signed checkpoint. An empty log has one too. */
  checkpoint(): string
  /** The hashes at `tile/<L>/<N>[.p/<W>]`, which never change. Undefined when the tree has no such tile. */
  tile(path: string): Uint8Array | undefined
  /** The entries at `tile/entries/<N>[.p/<W>]`, which never change. Undefined when the tree has no such bundle. */
  entries(path: string): Uint8Array | undefined
  /**
   * The inclusion proof of an event with the newest checkpoint, or with a witnessed one. Undefined when that tree does not
   * have the seq.
   */
  receipt(seq: Seq, witnessed?: WitnessedCheckpoint): string | undefined
  /**
   * The proof that the tree of the first `to` events, at most all, grew from that of the first `from` (RFC 6962). Undefined
   * unless it did.
   */
  growth(from: number, to: number): readonly Uint8Array[] | undefined
}>

/** A witness of the log, under one of its keys. */
export type ListedWitness = Readonly<{
  vkey: string
  /** Address below which it takes checkpoints (the submission prefix of C2SP tlog-witness). */
  url: string
  state: (typeof WITNESS_STATES)[number]
  /** The last event of the newest tree that it has cosigned, and the time of that cosignature; null before the first. */
  seq: Seq | null
  atMs: Ms | null
}>

/** The newest checkpoint with a quorum of cosignatures, and the time as of which the quorum vouches for it. */
export type WitnessedCheckpoint = Readonly<{ seq: Seq; atMs: Ms; note: string }>

/** The witnesses of a log, how many of them are a quorum, and the newest checkpoint that so many have cosigned. */
export type Witnessed = Readonly<{
  quorum: number
  witnesses: readonly ListedWitness[]
  newest: WitnessedCheckpoint | null
}>

/** Numbers of the operator's drafts that are not published, and of those published on the operator's word. */
export type FinalityCounts = Readonly<{
  held: number
  /** Moment at which the oldest held draft was accepted; null when none is held. */
  oldestMs: Ms | null
  /** Held drafts that the chain has settled and the books refuse. */
  refused: number
  failed: number
  dropped: number
  vouched: number
  /** Rises whenever one of the others changes. */
  version: number
}>

/** The log up to one head, as seen in one synchronous read transaction. */
export type Snapshot = Readonly<{
  head: Head
  books: Books
  /** The line of an event, byte for byte; undefined when the seq is not in the log. */
  line(seq: Seq): Uint8Array | undefined
  /**
   * The details line of an event, `{"seq":N,"details":null}` without details; undefined when the seq is not in the log.
   */
  detailsLine(seq: Seq): string | undefined
  /** The seq of the last event before `ms`; 0 when there is none. */
  seqBefore(ms: Ms): Seq
  walk(walk: Walk, framing: Framing): WalkResult
  /** Walks with details. The bytes and details together have `bytesMax` at most, unless the first event has more. */
  detailedWalk(walk: Walk, framing: Framing, bytesMax: number): DetailedWalk
  kinds(): readonly KindSeen[]
  /** Seq of the newest event that created a contest or changed the status of one; 0 when there is none. */
  newestMove(): Seq
  /** All months from the first event's to the head's, ascending, with empty months. */
  months(): readonly MonthState[]
  month(month: Month): MonthState | undefined
  /** The layout of a month's file at this head; undefined when there is no such month. */
  monthLayout(month: Month, file: MonthFile): MonthLayout | undefined
  /**
   * Whether a layout of an earlier snapshot, with so many stored bytes, is still right. Stored bytes do not change, except
   * that a mirror may take the segments that its origin has published for a month in place of its own, before it closes
   * the month.
   */
  keepsMonth(month: Month, file: MonthFile, storedBytes: number): boolean
  /**
   * The first bytes of the range `from` (inclusive) to `to` (exclusive) of a month's stored bytes: at least one, at
   * most 1 MiB. One file can be read over several snapshots, as long as they keep its layout.
   */
  monthChunk(month: Month, file: MonthFile, from: number, to: number): Uint8Array
  tree: TreeFiles
  /** All keys that sign or have signed the log, the oldest first. */
  keys(): readonly ListedKey[]
  /** Witnesses of the log and their newest cosignatures; null without witnesses. */
  witnessed(): Witnessed | null
  /** Names of the signatures on a witnessed checkpoint beside the log's own, once each. They are not verified again. */
  cosigners(checkpoint: WitnessedCheckpoint): readonly string[]
  /** Counts of held drafts, in constant time. */
  held(): FinalityCounts
}>

/** A reader of the log. Each thread has its own. */
export type LogReader = Readonly<{
  identity: LogIdentity
  /** The newest head that this thread has seen. Looks for a newer one when the head cell is ahead. */
  head(): Head
  /**
   * Changes with every commit, also with one that publishes nothing, and with what witnesses have cosigned: a version for
   * caches of this thread.
   */
  version(): string
  /** Runs `ask` in one read transaction. It must not await, because no statement stays open over an await. */
  snapshot<T>(ask: (snapshot: Snapshot) => T): T
  /**
   * Runs `ask`, in which all snapshots are one: the state of the log at the first of them. Rejects if `ask` awaits a turn
   * of the event loop, because no transaction stays open so long.
   */
  inOneSnapshot<T>(ask: () => Promise<T>): Promise<T>
  /** Calls `listener` when this thread's head moves. Returns a function that removes it. */
  onHead(listener: (head: Head) => void): () => void
  close(): void
}>
