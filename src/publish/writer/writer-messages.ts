import type { SigningKey } from '../../log/tree/signer.ts'
import type { Ms } from '../../protocol/moment.ts'
import type { Seq } from '../../protocol/seq.ts'
import type { BalancesSetting } from '../admission/admission.ts'
import type { OperationsAnswer, OperationsPath } from '../api/operations.ts'
import type { PublishOutcome } from '../api/publish-api.ts'
import type { PublishApiReport } from '../api/publish-replies.ts'
import type { Committed, CommittedHeld } from '../commit-queue.ts'
import type { ClockFault } from './clock-guard.ts'
import type { ThreadLink } from '../thread-link.ts'

/** Code of an option that runs in the writer's thread: its module, and structured-cloneable settings. */
export type WriterPart = Readonly<{ module: string; settings: object }>

/** Start-up settings of the writer's thread. */
export type WriterSettings = Readonly<{
  dataDirectory: string
  /** The head cell's shared memory. */
  head: SharedArrayBuffer
  host: string
  port: number
  tokens: readonly string[]
  balances: BalancesSetting
  /** Judge of transactions, whose module exports `openTxJudge`; null when the operator vouches for them. */
  judge: WriterPart | null
  /** Sign the tree of every commit. */
  keys: readonly SigningKey[]
  /** Settings of the machines that carry the log; null for a log that only this node writes. */
  carrier: object | null
  /** Whether a clock that is behind the newest event is accepted. */
  acceptClock: boolean
  /** Whether `requests` has accepted requests too. */
  tellsAccepted: boolean
  /** Memory of a shared clock that replaces the machine's (`openSharedClock`) and is always trusted. */
  clock?: SharedArrayBuffer | undefined
}>

/** Messages of the writer's thread to the main thread. */
export type FromWriter = Readonly<{
  /** The private listener has this port. */
  listening(port: number): void
  /**
   * The writer ends before it listens. `refused`: its settings cannot work. `unusable`: the store or its disk cannot be
   * used.
   */
  refused(reason: string): void
  unusable(reason: string): void
  /** A question that only the main thread can answer. `accepting`: whether the writer accepts publishes. */
  operations(path: OperationsPath, accepting: boolean): Promise<OperationsAnswer>
  committed(committed: Committed): void
  /** A commit only held drafts. */
  held(held: CommittedHeld): void
  /** Events of other nodes were applied. */
  followed(followed: Readonly<{ seq: Seq; atMs: Ms; events: number }>): void
  /** News of the machines that carry the log, for the option that knows them. */
  carrier(news: object): void
  /** News of the judge of transactions. */
  judge(news: object): void
  /** Publish requests by outcome, and reports of refused requests. Reports of accepted ones are optional. */
  requests(outcomes: ReadonlyMap<PublishOutcome, number>, reports: readonly PublishApiReport[]): void
  /** The private listener ended a connection to make room for another. */
  crowded(): void
  /** A draft with a wrong order or balance was published (`--balances report`), with the field at fault. */
  irregular(field: string): void
  /** The disk has become full, or has room again. */
  room(room: boolean): void
  /** A file that this process holds open was replaced or removed, with its path. */
  replaced(file: string): void
  /** The clock can no longer be trusted, or can again (null). */
  clock(fault: ClockFault | null): void
  /** An error of the service prevented an answer. The report is that of the request; null when there is none. */
  failure(reason: string, report: PublishApiReport | null): void
  /** The store must not be written again, so the service must stop. */
  broken(reason: string): void
}>

/** Sends a message to the main thread. */
export type SendMain = ThreadLink<FromWriter>['send']

/** Messages of the main thread to the writer's thread. */
export type ToWriter = Readonly<{
  /** Head of the whole log, read after the call; null when it is unknown. */
  barrier(): Promise<Seq | null>
  /** Refuses all further publish requests. */
  stop(): void
  close(): void
}>
