import type { Fault } from './check.ts'
import type { Sender, SentAnswer, SentRequest } from './sender.ts'

/** Script or walk: sentences of the contract that are checked together. */
export type ConformPart = Readonly<{
  name: string
  sentences: readonly string[]
  /** Requests of a run without repeated ones; a walk may need fewer. */
  requests: number
  /** Checks each sentence. Returns their verdicts in order. Throws `RunEnd`, or the reason of a stop. */
  run(run: ConformRun): Promise<readonly SentenceVerdict[]>
}>

/** Verdict on one sentence. */
export type SentenceVerdict =
  | Readonly<{ is: 'held' }>
  /** `request` is that of the answer. */
  | Readonly<{ is: 'broken'; request: string; faults: readonly Fault[] }>
  /** The log lacks what the sentence is about, such as `a closed month`. */
  | Readonly<{ is: 'not applicable'; needs: string }>
  /** It needs an answer to a sentence that is broken. */
  | Readonly<{ is: 'not asked'; why: string }>

/** A run against one service. */
export type ConformRun = Readonly<{
  sender: Sender
  log: LogSize
  /** Called with each answer to a script. */
  onAnswer?: (request: SentRequest, answer: SentAnswer) => void
}>

/** Size of the log as the run began. The log only grows. */
export type LogSize = Readonly<{
  /** Seq of the newest event; 0 for an empty log. */
  events: number
  /** Whole days since the first event. */
  days: number
}>

export const HELD: SentenceVerdict = { is: 'held' }

export const notApplicable = (needs: string): SentenceVerdict => ({ is: 'not applicable', needs })
