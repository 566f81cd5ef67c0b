import type { Ms } from '../../protocol/moment.ts'
import type { Seq } from '../../protocol/seq.ts'
import type { VerifierKey } from '../../tlog/note.ts'

/** Key of a witness, and the URL prefix to which checkpoints are sent. */
type FedWitness = Readonly<{ key: VerifierKey; url: string }>

/** Witnesses to ask, and the number of names that are a quorum. */
export type FeedChoice = Readonly<{ witnesses: readonly FedWitness[]; quorum: number }>

/** Pace of the questions to witnesses. */
export type FeedPace = Readonly<{
  /** Least time between two requests to a witness, in milliseconds. */
  roundMs: number
  /** Time after which a witness is asked again about a log that has not grown, so that its cosignature stays fresh. */
  idleMs: number
}>

export const FEED_PACE: FeedPace = { roundMs: 10_000, idleMs: 60_000 }

/** Functions of the runtime that the feeder uses. */
export type FeedSurroundings = Readonly<{
  now(): Ms
  monotonicMs(): number
  fetch?: typeof globalThis.fetch
}>

export const WITNESS_REFUSALS = [
  'unreachable',
  'limited',
  'unknown-log',
  'key',
  'ahead',
  'disagrees',
  'went-back',
  'clock',
  'malformed',
  'failed',
] as const

/**
 * Reason why a witness has not cosigned. `unreachable`: no complete answer in time. `limited`: it asks for fewer
 * requests. `unknown-log`, `key`: it does not know the log or its key. `ahead`: it has seen a larger tree of this log
 * than this node has. `disagrees`: it has seen another history of this log. `went-back`: it has forgotten a tree that
 * it cosigned. `clock`: its clock is ahead. `malformed`: its answer breaks the protocol. `failed`: any other answer.
 */
export type WitnessRefusal = (typeof WITNESS_REFUSALS)[number]

/** Listener of a feeder. A witness is named by its key name. */
export type FeedListener = Readonly<{
  /** Called for each answer with valid cosignatures, at their time. */
  onCosigned(witness: string, seq: Seq, atMs: Ms): void
  onRefused(witness: string, reason: WitnessRefusal): void
  /** Called when a quorum vouches for a newer tree, or for the same tree at a later time. */
  onWitnessed(seq: Seq, atMs: Ms): void
  /** Called when the log cannot be read, or the witnessed file not written. The feeder continues. */
  onFault(error: unknown): void
}>
