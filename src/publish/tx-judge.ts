import type { DatabaseSync } from 'node:sqlite'
import type { Ms } from '../protocol/moment.ts'
import type { HeldCommands } from './held-commands.ts'

// Port of the writer for an option that judges transactions. It asks the chain about the transactions of held drafts,
// and settles these drafts. Without it, the operator vouches for transactions.

/** Judge of transactions in the writer's thread. */
export type TxJudge = Readonly<{
  /** Judges and settles held drafts until the signal aborts. Never rejects. */
  run(): Promise<void>
  /** Last messages of the servers about the transaction of a draft that waits; null before the first request. */
  lastMessages(tx: string): readonly LastMessage[] | null
}>

/** Last message of one server about a transaction. */
export type LastMessage = Readonly<{ server: string; words: string }>

/** Parts of the writer's thread that a judge needs. */
export type JudgeContext = Readonly<{
  db: DatabaseSync
  heldCommands: HeldCommands
  /** Whether this node judges. On a log of several nodes only the leader does. */
  leads(): boolean
  now(): Ms
  monotonicMs(): number
  random(): number
  sleep(ms: number, signal: AbortSignal): Promise<unknown>
  /** Runs the work after the current turn of the event loop. */
  defer(work: () => void): void
  /** Aborted when the node stops. */
  signal: AbortSignal
  /** Sends a report to the main thread, where the option reads it. It must be structured-cloneable. */
  report(report: object): void
}>

/** Opens a judge. Throws a `WriterRefusal` for settings that cannot work, and rejects when the node stops. */
export type OpenTxJudge = (settings: object, context: JudgeContext) => Promise<TxJudge>

/** Settings with which the writer does not start. The message says what to change. */
export class WriterRefusal extends Error {
  override readonly name = 'WriterRefusal'
}
