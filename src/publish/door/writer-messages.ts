import type { SigningKey } from '../../log/tree/signer.ts'
import type { Ms } from '../../protocol/moment.ts'
import type { Seq } from '../../protocol/seq.ts'
import type { BalancesSetting } from '../admission/admission.ts'
import type { ClockFault } from '../guards/clock-guard.ts'
import type { PublishOutcome } from './door.ts'
import type { DoorReport } from './door-replies.ts'
import type { OperationsAnswer, OperationsPath } from './operations.ts'
import type { Committed, CommittedHeld } from '../commit-queue.ts'

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
  /** Whether `requests` tells of accepted requests too. */
  tellsAccepted: boolean
  /** Memory of a shared clock that replaces the machine's (`openSharedClock`) and is always believed. */
  clock?: SharedArrayBuffer | undefined
}>

/** Messages of the writer's thread to the main thread. */
export type FromWriter =
  | Readonly<{ is: 'listening'; port: number }>
  | Readonly<{ is: 'committed'; committed: Committed }>
  | Readonly<{ is: 'held'; held: CommittedHeld }>
  /** Events of other nodes were applied. */
  | Readonly<{ is: 'followed'; seq: Seq; atMs: Ms; events: number }>
  /** News of the machines that carry the log, for the option that knows them (`NewsReader.told`). */
  | Readonly<{ is: 'carrier'; news: object }>
  /** News of the judge of transactions. */
  | Readonly<{ is: 'judge'; news: object }>
  /** Head of the whole log; null when it cannot be known. */
  | Readonly<{ is: 'barrier'; id: number; seq: Seq | null }>
  | Readonly<{
      is: 'requests'
      outcomes: ReadonlyMap<PublishOutcome, number>
      answers: readonly DoorReport[]
    }>
  | Readonly<{ is: 'irregular'; field: string }>
  /** The private listener ended a connection to make room for another. */
  | Readonly<{ is: 'crowded' }>
  | Readonly<{ is: 'operations'; id: number; path: OperationsPath; accepting: boolean }>
  | Readonly<{ is: 'room'; room: boolean }>
  /** A file that this process holds open was replaced or removed: its path. */
  | Readonly<{ is: 'replaced'; file: string }>
  | Readonly<{ is: 'clock'; fault: ClockFault | null }>
  /** The settings cannot work, so the writer ends before it listens. */
  | Readonly<{ is: 'refused'; reason: string }>
  /** The store or its disk cannot be used, so the writer ends before it listens. */
  | Readonly<{ is: 'unusable'; reason: string }>
  /** `answer`: that of the request that failed; null when the failure concerns no request. */
  | Readonly<{ is: 'failure'; reason: string; answer: DoorReport | null }>
  | Readonly<{ is: 'broken'; reason: string }>

/** Messages of the main thread to the writer's thread. */
export type ToWriter =
  | Readonly<{ is: 'operations'; id: number; answer: OperationsAnswer }>
  | Readonly<{ is: 'barrier'; id: number }>
  | Readonly<{ is: 'stopping' }>
  | Readonly<{ is: 'close' }>
