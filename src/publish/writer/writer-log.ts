import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { type Appender, openAppender } from '../../log/append.ts'
import { HIGH_WATER_FILE, type HighWater } from '../../log/store/high-water.ts'
import { LOCK_FILE } from '../../log/store/lock.ts'
import { openForWriting, readIdentity, storePath } from '../../log/store/store.ts'
import { openSigner } from '../../log/tree/signer.ts'
import type { CommitFailureSettings, CommitPath } from '../commit-path.ts'
import { type HeldDrafts, openHeldDrafts } from '../held-drafts.ts'
import type { WriterSettings } from './writer-messages.ts'
import type { Seq } from '../../protocol/seq.ts'
import type { Head } from '../../project/fold/books.ts'
import type { CommitQueue } from '../commit-queue.ts'
import type { OperatorSteps } from '../api/publish-replies.ts'

/** The log that the writer's thread writes. */
export type WriterLog = Readonly<{
  db: DatabaseSync
  appender: Appender
  held: HeldDrafts
  /** Newest signed tree for the high-water mark; null when the node has served a larger one. */
  mark(): HighWater | null
  /** Commit path of a log that other machines carry; absent for a log of this node alone. */
  path?: CommitPath
}>

/** Opens the store of a log that only this node writes. */
export function openOwnLog({
  dataDirectory,
  keys,
  judge,
}: Pick<WriterSettings, 'dataDirectory' | 'keys' | 'judge'>): WriterLog {
  const db = openForWriting(storePath(dataDirectory))
  const { id, origin, former } = readIdentity(db)
  const appender = openAppender(db, openSigner(origin, keys))
  return {
    db,
    appender,
    held: openHeldDrafts(db, judge !== null),
    mark: () => ({ log: id, checkpoint: appender.checkpoint(), former }),
  }
}

/** Paths of the files in a data directory that its service holds open. */
export function filesHeldOpen(dataDirectory: string): readonly string[] {
  const store = storePath(dataDirectory)
  const others = [HIGH_WATER_FILE, LOCK_FILE].map((name) => join(dataDirectory, name))
  return [store, `${store}-wal`, `${store}-shm`, ...others]
}

// Port of the writer for machines that carry the log. An option implements how a commit becomes durable, which node
// leads, and which nodes follow.

/** A log that other machines carry, in the writer's thread. */
export type CarriedLog = AsyncDisposable &
  Required<WriterLog> &
  Readonly<{
    /** Begins to follow the log, and to lead it when possible. */
    start(listeners: CarriedListeners): void
    /** Head of the whole log, read after the call; null when it is unknown. */
    barrier(): Promise<Seq | null>
    /** Whether this node leads: it alone asks the chain. */
    leads(): boolean
    /** Whether the other machines currently allow this node to accept drafts. */
    isPublishable(): boolean
    /** Operator steps: further paths of the private listener, each for POST. */
    steps: OperatorSteps
  }>

/** Listeners for changes of the books of a carried log, by commits of all nodes. */
export type CarriedListeners = Readonly<{
  queue: Pick<CommitQueue, 'changed' | 'lead'>
  /** Called after each change of the books, with the number of events that came from other nodes. */
  onHead(head: Head, followed: number): void
  /** Called when the machines have another log than this node has served. */
  onOtherLog(reason: string): void
}>

/** Clocks and timers of the thread, and its unhandled rejections. */
export type WriterTime = Readonly<{
  /** Milliseconds since 1970; `monotonicMs` never jumps. */
  nowMs(): number
  monotonicMs(): number
  random(): number
  /** Rejects when the signal is aborted. */
  sleep(ms: number, signal: AbortSignal): Promise<unknown>
  onUnhandled(listener: (error: unknown) => void): void
}>

/** Parts of the writer's thread that a carried log needs. */
export type CarrierContext = CommitFailureSettings &
  Omit<WriterTime, 'onUnhandled'> &
  Readonly<{
    /** Aborted when the node stops. */
    signal: AbortSignal
    /** Whether this node's disk, clock and state allow it to accept drafts. */
    accepts(): boolean
    /** Sends news to the main thread, where the option reads it. It must be structured-cloneable. */
    report(news: object): void
  }>

/** Opens the log. Throws a StoreError that says what is wrong, and rejects when the node stops. */
export type OpenCarriedLog = (settings: WriterSettings, context: CarrierContext) => Promise<CarriedLog>
