import type { SigningKey } from '../../log/tree/signer.ts'
import type { Ms } from '../../protocol/moment.ts'
import type { Seq } from '../../protocol/seq.ts'
import type { BalancesSetting } from '../admission/admission.ts'
import type { OperationsAnswer, OperationsPath } from '../api/operations.ts'
import type { PublishOutcome } from '../api/publish-api.ts'
import type { PublishApiReport } from '../api/publish-replies.ts'
import type { Committed, CommittedHeld } from '../commit-queue.ts'
import type { ClockFault } from './clock-guard.ts'

/** Code of an option that runs in the writer's thread: its module, and settings that can be passed between threads. */
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
  /** Memory of a shared clock that replaces the machine's (`openSharedClock`) and is always believed. */
  clock?: SharedArrayBuffer | undefined
}>

/** Events of the writer's thread, which need no answer. The main thread has one listener for each. */
export type WriterEvents = Readonly<{
  committed: Committed
  /** A commit only held drafts. */
  held: CommittedHeld
  /** Events of other nodes were applied. */
  followed: Readonly<{ seq: Seq; atMs: Ms; events: number }>
  /** News of the machines that carry the log, for the option that knows them. */
  carrier: object
  /** News of the judge of transactions. */
  judge: object
  /** Publish requests by outcome, and reports of refused requests, also of accepted ones if that is wanted. */
  requests: Readonly<{
    outcomes: ReadonlyMap<PublishOutcome, number>
    reports: readonly PublishApiReport[]
  }>
  /** The private listener ended a connection to make room for another. */
  crowded: null
  /** A draft with a wrong order or balance was published (`--balances report`): the field at fault. */
  irregular: string
  /** The disk has become full, or has room again. */
  room: boolean
  /** A file that this process holds open was replaced or removed: its path. */
  replaced: string
  /** The clock can no longer be believed, or can again (null). */
  clock: ClockFault | null
  /** An error of the service prevented an answer: that of this request; null when it concerns no request. */
  failure: Readonly<{ reason: string; report: PublishApiReport | null }>
  /** The store must not be written any more, so the service must stop. */
  broken: string
}>

type WriterEvent = {
  readonly [Name in keyof WriterEvents]: Readonly<{ is: 'event'; name: Name; event: WriterEvents[Name] }>
}[keyof WriterEvents]

/** Sends an event to the main thread. */
export type SendEvent = <Name extends keyof WriterEvents>(name: Name, event: WriterEvents[Name]) => void

/** Messages of the writer's thread to the main thread. */
export type FromWriter =
  | WriterEvent
  | Readonly<{ is: 'listening'; port: number }>
  /** The settings cannot work (`refused`), or the store or its disk cannot be used. The writer ends before it listens. */
  | Readonly<{ is: 'refused' | 'unusable'; reason: string }>
  /** A question that only the main thread can answer. */
  | Readonly<{ is: 'operations'; id: number; path: OperationsPath; accepting: boolean }>
  /** Head of the whole log; null when it cannot be known. */
  | Readonly<{ is: 'barrier'; id: number; seq: Seq | null }>

/** Messages of the main thread to the writer's thread. */
export type ToWriter =
  | Readonly<{ is: 'operations'; id: number; answer: OperationsAnswer }>
  | Readonly<{ is: 'barrier'; id: number }>
  | Readonly<{ is: 'stopping' }>
  | Readonly<{ is: 'close' }>
