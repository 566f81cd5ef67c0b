import type { Seq } from '../../protocol/seq.ts'
import type { Head } from '../../project/fold/books.ts'
import type { CommitQueue } from '../commit-queue.ts'
import type { WriterLog } from './writer-log.ts'
import type { DoorSteps } from './door-replies.ts'
import type { WriterSettings } from './writer-messages.ts'
import type { CommitFailureSettings } from '../commit-path.ts'

// The port of the writer to machines that carry the log. An option fills it: how a commit becomes durable, who leads, and
// what follows.

/** A log that other machines carry, in the writer's thread. */
export type CarriedLog = AsyncDisposable &
  Required<WriterLog> &
  Readonly<{
    /** Begins to follow the log, and to lead it when it may. */
    start(listeners: CarriedListeners): void
    /** Head of the whole log at a moment after the call; null when it cannot be known. */
    barrier(): Promise<Seq | null>
    /** Whether this node leads: it alone asks the chain. */
    leads(): boolean
    /** Whether this node takes drafts now, as far as the other machines are concerned. */
    isPublishable(): boolean
    /** Further paths of the private listener, each for POST: steps of the operator. */
    steps: DoorSteps
  }>

/** Listeners to the books of a carried log, which commits of all nodes change. */
export type CarriedListeners = Readonly<{
  queue: Pick<CommitQueue, 'changed' | 'lead'>
  /** Called after each change of the books, with the number of events that came from other nodes. */
  onHead(head: Head, followed: number): void
  /** Called when the machines have another log than this node has served. */
  onOtherLog(reason: string): void
}>

/** Clocks and timers of the thread, and its unhandled rejections. */
export type WriterTime = Readonly<{
  /** Milliseconds since 1970, and of a clock that never jumps. */
  nowMs(): number
  monotonicMs(): number
  random(): number
  /** Rejects when the signal is aborted. */
  sleep(ms: number, signal: AbortSignal): Promise<unknown>
  onUnhandled(listener: (error: unknown) => void): void
}>

/** Surroundings of a carried log. */
export type CarriedWorld = CommitFailureSettings &
  Omit<WriterTime, 'onUnhandled'> &
  Readonly<{
    /** Aborted when the node stops. */
    signal: AbortSignal
    /** Whether this node takes drafts, as far as its disk, its clock and its stop are concerned. */
    accepts(): boolean
    /** Tells the main thread something that can be passed between threads (`CarrierHearing.told`). */
    tell(news: object): void
  }>

/** Opens the log. Throws a StoreError that says what is wrong, and rejects when the node stops. */
export type OpenCarriedLog = (settings: WriterSettings, world: CarriedWorld) => Promise<CarriedLog>
