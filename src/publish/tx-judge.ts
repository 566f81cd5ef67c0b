import type { DatabaseSync } from 'node:sqlite'
import type { Ms } from '../protocol/moment.ts'
import type { HeldCommands } from './held-commands.ts'

// The port of the writer to an option that judges transactions: it asks what became of those of held drafts, and settles
// these. Without it, the operator vouches for transactions.

/** Judge of transactions in the writer's thread. */
export type TxJudge = Readonly<{
  /** Judges and settles held drafts until the signal ends it. Never rejects. */
  run(): Promise<void>
  /** Last answers of the servers about the transaction of a draft that waits; null before the first request. */
  lastAnswers(tx: string): readonly LastAnswer[] | null
}>

/** Last answer of one server about a transaction, as a message. */
export type LastAnswer = Readonly<{ server: string; words: string }>

/** Parts of the writer's thread that a judge needs. */
export type JudgeContext = Readonly<{
  db: DatabaseSync
  queue: HeldCommands
  /** Whether this node judges: of a log on several nodes, the leader does. */
  leads(): boolean
  now(): Ms
  monotonicMs(): number
  random(): number
  sleep(ms: number, signal: AbortSignal): Promise<unknown>
  /** Runs the work after the present turn of the event loop. */
  defer(work: () => void): void
  /** Aborted when the node stops. */
  signal: AbortSignal
  /** Sends a report to the main thread, where the option reads it. It must be fit to be passed between threads. */
  report(report: object): void
}>

/** Opens a judge. Throws a `WriterRefusal` for settings that cannot work, and rejects when the node stops. */
export type OpenTxJudge = (settings: object, context: JudgeContext) => Promise<TxJudge>

/** Settings with which the writer does not start. The message says what to change. */
export class WriterRefusal extends Error {
  override readonly name = 'WriterRefusal'
}
