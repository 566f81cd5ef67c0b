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

/** Log that ended when its store was restored from an older copy. Its first `size` events are in this log. */
export type FormerLog = Readonly<{ id: string; origin: string; size: number }>

/** Key of the log. It signs trees of `fromSize` and larger, up to `toSize` when it is retired. */
export type ListedKey = Readonly<{
  vkey: string
  fromSize: number
  toSize: number | null
  /** Note about this key, signed by an older key; null when none has signed. */
  statement: string | null
}>

/** Filter of events; null matches all, an empty list none. */
export type LogFilter = Readonly<{
  types: readonly EventType[] | null
  kinds: readonly string[] | null
  contestIds: readonly ContestId[] | null
  nonzero: boolean
}>

/** Walk over the seqs between `after` and `before`, both exclusive. */
export type Walk = Readonly<{
  filter: LogFilter
  /** Transaction that events must have; null for any or none. */
  tx: string | null
  order: 'asc' | 'desc'
  after: Seq
  /** The exclusive upper bound; at most head + 1. */
  before: Seq
  /** Matches to return at most. */
  limit: number
  /**
   * Most events that a walk with `nonzero` examines after the rest of its filter. Without `nonzero` it has no effect.
   */
  examineMax: number
}>

/** Format in which a walk returns its matches. */
export type Framing = 'json' | 'csv' | 'sse' | 'ndjson'

export type WalkResult = Readonly<{
  /** The matches: JSON elements joined by commas, CSV rows, SSE frames, or JSON lines. */
  bytes: Uint8Array
  count: number
  /**
   * Seq up to which every match is found: the last match if `limit` was reached, the last examined seq if `examineMax`
   * was reached, otherwise the end of the range.
   */
  scannedTo: Seq
  /** Whether the range continues past `scannedTo`. */
  hasMore: boolean
}>

/** `WalkResult` with details. It also ends at a limit of bytes; then `hasMore` is true. */
export type DetailedWalk = WalkResult &
  Readonly<{
    /** In JSON the members of an object, `"<seq>":{…}` joined by commas. In other framings `bytes` has the details. */
    details: Uint8Array
  }>

/** Month of the archive. An open month grows; a closed one never changes. */
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
 * Gzip file of a month at one head: `storedBytes` bytes to read chunk by chunk, then `ending`. The ending has the
 * compressed lines after the last segment, and the trailer.
 */
export type MonthLayout = Readonly<{ storedBytes: number; ending: Uint8Array }>

/** Bytes of each piece of a Parquet file that is checked by itself. */
export const PARQUET_PIECE_BYTES = 65_536

/** Parquet file of a closed month in the data directory. Its content was right when this process read or made it. */
export type ParquetFile = Readonly<{
  month: Month
  path: string
  bytes: number
  /** SHA-256 in hex. */
  sha256: string
  /** CRC-32 of each piece of `PARQUET_PIECE_BYTES`. */
  crcs: Uint32Array
}>

/** Type and kind of events in the log, with the first and the newest seq. */
export type KindSeen = Readonly<{ type: EventType; kind: string; firstSeq: Seq; lastSeq: Seq }>

/** Tree files of a snapshot (C2SP tlog-tiles). Paths are relative to the log's prefix. */
export type TreeFiles = Readonly<{
  /** The signed checkpoint. An empty log has one too. */
  checkpoint(): string
  /** Hashes at `tile/<L>/<N>[.p/<W>]`, which never change. Undefined when the tree has no such tile. */
  tile(path: string): Uint8Array | undefined
  /** Entries at `tile/entries/<N>[.p/<W>]`, which never change. Undefined when the tree has no such bundle. */
  entries(path: string): Uint8Array | undefined
  /**
   * Inclusion proof of an event with the newest checkpoint, or with a witnessed one. Undefined when that tree does not
   * have the seq.
   */
  receipt(seq: Seq, witnessed?: WitnessedCheckpoint): string | undefined
  /**
   * Proof that the tree of the first `to` events grew from that of the first `from` (RFC 6962). Undefined if it did
   * not, and beyond the head.
   */
  growth(from: number, to: number): readonly Uint8Array[] | undefined
}>

/** Witness of the log, with one of its keys. */
export type ListedWitness = Readonly<{
  vkey: string
  /** URL prefix to which checkpoints are sent (the submission prefix of C2SP tlog-witness). */
  url: string
  state: (typeof WITNESS_STATES)[number]
  /** Last event of the newest tree that it has cosigned, and the time of that cosignature; null before the first. */
  seq: Seq | null
  atMs: Ms | null
}>

/** Newest checkpoint with a quorum of cosignatures, and the time as of which the quorum vouches for it. */
export type WitnessedCheckpoint = Readonly<{ seq: Seq; atMs: Ms; note: string }>

/** Witnesses of a log, the size of a quorum, and the newest checkpoint that a quorum has cosigned. */
export type Witnessed = Readonly<{
  quorum: number
  witnesses: readonly ListedWitness[]
  newest: WitnessedCheckpoint | null
}>

/**
 * Counts of the operator's drafts that are not published, and of those published because the operator vouched for them.
 */
export type FinalityCounts = Readonly<{
  held: number
  /** Time at which the oldest held draft was accepted; null when none is held. */
  oldestMs: Ms | null
  /** Held drafts that the chain has settled and the books refuse. */
  refused: number
  failed: number
  dropped: number
  vouched: number
  /** Rises whenever one of the other counts changes. */
  version: number
}>

/** The log up to one head, as seen in one synchronous read transaction. */
export type Snapshot = Readonly<{
  head: Head
  books: Books
  /** Line of an event, byte for byte; undefined when the seq is not in the log. */
  line(seq: Seq): Uint8Array | undefined
  /** Details line of an event, `{"seq":N,"details":null}` without details; undefined when the seq is not in the log. */
  detailsLine(seq: Seq): string | undefined
  /** Seq of the last event before `ms`; 0 when there is none. */
  seqBefore(ms: Ms): Seq
  walk(walk: Walk, framing: Framing): WalkResult
  /** Walks with details. The bytes and details together have at most `bytesMax`, unless the first event has more. */
  detailedWalk(walk: Walk, framing: Framing, bytesMax: number): DetailedWalk
  kinds(): readonly KindSeen[]
  /** Seq of the newest event that created a contest or changed a contest's status; 0 when there is none. */
  newestMove(): Seq
  /** All months from the first event's to the head's, ascending, including empty ones. */
  months(): readonly MonthState[]
  month(month: Month): MonthState | undefined
  /** Layout of a month's file at this head; undefined when there is no such month. */
  monthLayout(month: Month, file: MonthFile): MonthLayout | undefined
  /**
   * Whether a layout of an earlier snapshot is still right. Stored bytes change in one case only: before it closes a
   * month, a mirror may replace its own segments by those of its origin.
   */
  keepsMonth(month: Month, file: MonthFile, storedBytes: number): boolean
  /**
   * First bytes of a month's stored range from `from` (inclusive) to `to` (exclusive): at least one, at most 1 MiB. One
   * file can be read over several snapshots, as long as they keep its layout.
   */
  monthChunk(month: Month, file: MonthFile, from: number, to: number): Uint8Array
  tree: TreeFiles
  /** All keys that sign or have signed the log, the oldest first. */
  keys(): readonly ListedKey[]
  /** Witnesses of the log and their newest cosignatures; null without witnesses. */
  witnessed(): Witnessed | null
  /** Names of the other signatures on a witnessed checkpoint, each once. They are not verified again. */
  cosigners(checkpoint: WitnessedCheckpoint): readonly string[]
  /** Counts of held drafts, in constant time. */
  held(): FinalityCounts
}>

/** Reader of the log. Each thread has its own. */
export type LogReader = Readonly<{
  identity: LogIdentity
  /** Newest head that this thread has seen. Looks for a newer one when the head cell is ahead. */
  head(): Head
  /**
   * Cache version for this thread. It changes with every commit, even one without events, and with new cosignatures.
   */
  version(): string
  /** Runs `ask` in one read transaction. `ask` must not await, because no statement stays open over an await. */
  snapshot<T>(ask: (snapshot: Snapshot) => T): T
  /**
   * Runs `ask`, in which all snapshots show the same state: that of the first one. Rejects if `ask` awaits a turn of
   * the event loop, because no transaction stays open so long.
   */
  inOneSnapshot<T>(ask: () => Promise<T>): Promise<T>
  /** Calls `listener` when this thread's head moves. Returns a function that removes it. */
  onHead(listener: (head: Head) => void): () => void
  close(): void
}>
