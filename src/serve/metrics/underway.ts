import type { ServerResponse } from 'node:http'
import type { RequestTally } from './request-tally.ts'

/** An ordinary answer is given up when it has not been taken by then, or a second later. */
export const ANSWER_MS_MAX = 30_000
const SWEEP_MS = 1_000

/** The answers that have not ended yet. */
export type Underway = Readonly<{
  /** Counts the answer when it is over; one that has a limit is given up when nobody takes it. */
  begin(response: ServerResponse, answer: Answer): void
}>

type Answer = Readonly<{ method: string; tally: RequestTally; startedMs: number; limited: boolean }>

/** `monotonicMs` is the clock that `startedMs` is read from. */
export function openUnderway(monotonicMs: () => number): Underway {
  const answers = new Map<ServerResponse, Answer>()
  // One timer for all: a timer for each would cost every request what hardly any needs.
  let sweeping: NodeJS.Timeout | undefined

  function sweep(): void {
    sweeping = undefined
    const latest = monotonicMs() - ANSWER_MS_MAX
    let waiting = false
    for (const [response, { limited, startedMs }] of answers) {
      if (!limited) continue
      if (startedMs <= latest) response.destroy()
      else waiting = true
    }
    if (waiting) arm()
  }

  function arm(): void {
    sweeping ??= setTimeout(sweep, SWEEP_MS).unref()
  }

  function end(this: ServerResponse): void {
    const answer = answers.get(this)
    if (answer === undefined) return
    answers.delete(this)
    const { method, tally, startedMs, limited } = answer
    // 499: the caller left before there was an answer.
    const code = this.headersSent ? this.statusCode : 499
    tally.add(method, code, limited ? (monotonicMs() - startedMs) / 1000 : null)
  }

  return {
    begin(response, answer) {
      answers.set(response, answer)
      response.on('close', end)
      if (answer.limited) arm()
    },
  }
}
