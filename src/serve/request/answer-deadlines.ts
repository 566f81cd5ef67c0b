import type { ServerResponse } from 'node:http'
import type { RequestTally } from '../metrics/metrics.ts'

/** Time limit in ms of an ordinary answer that its caller does not read, checked every second. */
export const ANSWER_MS_MAX = 30_000
const SWEEP_MS = 1_000

/** Unfinished answers. Each is counted at its end, or aborted at the time limit. */
type AnswerDeadlines = Readonly<{
  /** Begins to watch an answer. */
  begin(response: ServerResponse, answer: Begun): void
  /** Removes the time limit of an answer that lasts as long as its caller reads. Counts it without a duration. */
  lift(response: ServerResponse): void
}>

type Begun = Readonly<{ method: string; tally: RequestTally; startedMs: number }>
type Answer = Begun & Readonly<{ limited: boolean }>

/** Opens the deadlines. `monotonicMs` is the clock of `startedMs`, and `onLate` is called for each aborted answer. */
export function openAnswerDeadlines(
  monotonicMs: () => number,
  onLate: () => void = () => undefined,
): AnswerDeadlines {
  const answers = new Map<ServerResponse, Answer>()
  // One timer for all answers, because a timer for each request would cost too much.
  let sweeping: NodeJS.Timeout | undefined

  function sweep(): void {
    sweeping = undefined
    const latest = monotonicMs() - ANSWER_MS_MAX
    let waiting = false
    for (const [response, { limited, startedMs }] of answers) {
      if (!limited) continue
      if (startedMs > latest) waiting = true
      else {
        response.destroy()
        onLate()
      }
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
    // 499: the caller left before the answer began.
    const code = this.headersSent ? this.statusCode : 499
    tally.add(method, code, limited ? (monotonicMs() - startedMs) / 1000 : null)
  }

  return {
    begin(response, answer) {
      answers.set(response, { ...answer, limited: true })
      response.on('close', end)
      arm()
    },
    lift(response) {
      const answer = answers.get(response)
      if (answer !== undefined) answers.set(response, { ...answer, limited: false })
    },
  }
}
