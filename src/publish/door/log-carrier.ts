import type { DatabaseSync } from 'node:sqlite'
import type { Appender } from '../../log/append.ts'
import type { HeldTables } from '../../log/held/held-tables.ts'
import type { HighWater } from '../../log/store/high-water.ts'
import type { Head } from '../../project/fold/books.ts'
import type { Seq } from '../../protocol/seq.ts'
import type { FailedOutcome } from '../admission/outcome.ts'
import type { CommitFailureSettings } from '../commits/commit-failure.ts'
import type { CommitPath } from '../commits/commit-path.ts'
import type { CommitQueue } from '../commits/commit-queue.ts'
import type { HeldDrafts } from '../held/held-drafts.ts'
import type { PlacedRequest } from './door-replies.ts'

/** The log that the writer's thread writes. */
export type WriterLog = Readonly<{
  db: DatabaseSync
  appender: Appender
  tables: HeldTables
  /** Newest signed tree for the high-water mark; null when the node has served a larger one. */
  mark(): HighWater | null
  /** What carries the log to other nodes; null for a log of this node alone. */
  carrier: LogCarrier | null
}>

/**
 * What makes the commits of a log durable in place of this node's disk alone: how a commit becomes durable, who leads, and
 * what follows. The core knows options that do this only by this port.
 */
export type LogCarrier = AsyncDisposable &
  Readonly<{
    /** Held drafts whose changes travel with the commits. */
    held: HeldDrafts
    /** The way on which commits become durable. */
    path: CommitPath
    /** Begins to follow the log. */
    start(listeners: CarrierListeners): void
    /** Whether this node does work of its own accord, such as asking the chain. */
    leads(): boolean
    /** Reason why this node takes no drafts now, in words for the operator; null when it does. */
    refusal(): string | null
    /** Head of the whole log at a moment after the call; null when it cannot be known. */
    barrier(): Promise<Seq | null>
    /** Paths of the private listener that the carrier answers, each with POST and without a query. */
    requests: ReadonlyMap<string, (request: PlacedRequest) => Promise<CarrierAnswer>>
  }>

/** Answer of a carrier to a request of the operator. */
export type CarrierAnswer = Readonly<{ ok: true; answer: object }> | FailedOutcome

/** Listeners to the books, which commits of other nodes change too. */
export type CarrierListeners = Readonly<{
  queue: Pick<CommitQueue, 'changed' | 'lead'>
  /** Called after each change, with the number of events that came from other nodes. */
  onHead(head: Head, followed: number): void
  /** Called when the log must not be served any further. The service stops. */
  onOtherLog(reason: string): void
}>

/** Surroundings of a carrier in the writer's thread. */
export type CarrierSurroundings = CommitFailureSettings &
  Readonly<{
    nowMs(): number
    monotonicMs(): number
    random(): number
    sleep(ms: number, signal: AbortSignal): Promise<unknown>
    /** Aborted when the node stops. */
    signal: AbortSignal
    /** Whether this node takes drafts, as far as its disk, its clock and its stop are concerned. */
    accepts(): boolean
    /** Tells the main thread. The report can be passed between threads. */
    tell(report: CarrierReport): void
  }>

/**
 * Report of a carrier to the main thread: at each change, and once a second at least. The option adds what its own metrics
 * and log lines need.
 */
export type CarrierReport = Readonly<{
  leads: boolean
  /** Commits of the whole log that this node has not applied: it is behind by so many events at least. */
  behind: number
}>
