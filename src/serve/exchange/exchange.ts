import { httpStatusOf } from '../http/problem-document.ts'
import { respond } from '../http/respond.ts'
import type { Reply } from '../http/route.ts'
import type { UnreadAnswers } from './unread-answers.ts'
import type { AnswerDeadlines } from './answer-deadlines.ts'
import type { RowsCharge } from './allowance-step.ts'
import type { Eventual } from './eventual.ts'
import { attempt, whenKnown } from './eventual.ts'
import type { Report } from './failure.ts'
import { reportFailure } from './failure.ts'
import type { Refuse } from './thread-question.ts'
import type { StepRefusal, Step, Visit } from './visit.ts'

/** The steps of an exchange, and the counts of answers that have not ended. */
type ExchangeParts = Readonly<{
  /** The first step with a reply ends the steps; the last one always has a reply. */
  steps: readonly Step[]
  refuse: Refuse
  chargeRows: RowsCharge
  /** Ends a visit whose steps threw. */
  fail(visit: Visit, error: unknown): void
  report: Report
  deadlines: AnswerDeadlines
  unread: UnreadAnswers
  monotonicMs(): number
}>

/** Opens the exchange: it takes a visit through its steps, charges for rows, and writes the reply. It never throws. */
export function openExchange(parts: ExchangeParts): (visit: Visit) => void {
  const { steps, refuse, chargeRows, fail, report, deadlines, unread, monotonicMs } = parts
  return (visit) => {
    const { request, response, tally, terms } = visit
    // A stream lasts as long as its caller likes.
    const limited = visit.found?.route.streaming !== true
    const method = request.method ?? 'none'
    deadlines.begin(response, { method, tally, startedMs: monotonicMs(), limited })
    const written = attempt(() => {
      const made = whenKnown(firstOf(steps, visit), (one) =>
        one.is === 'refused' ? refuse(visit, one.problem) : one,
      )
      const charged = whenKnown(made, (reply) => chargeRows(visit, reply))
      return whenKnown(charged, (reply) => {
        if (response.destroyed) return undefined
        // The route writes the response itself, under limits of its own.
        if (reply.is === 'taken') return deadlines.lift(response)
        const status = failedStatus(reply)
        if (status !== null) reportFailure(report, visit, status, null)
        const handedOver = respond(response, terms, reply)
        return whenKnown(handedOver, () => (limited ? unread.watch(response) : undefined))
      })
    })
    if (written instanceof Promise) written.catch((error: unknown) => fail(visit, error))
  }
}

/** Status of a reply from 500 up; null for any other. */
function failedStatus(reply: Reply): number | null {
  const status = reply.is === 'problem' ? httpStatusOf(reply.problem) : 'status' in reply ? reply.status : 200
  return status !== undefined && status >= 500 ? status : null
}

/** The first reply of the steps, from step `from` on. */
function firstOf(steps: readonly Step[], visit: Visit, from = 0): Eventual<Reply | StepRefusal> {
  for (let at = from; at < steps.length; at += 1) {
    const made = steps[at]?.(visit)
    if (made instanceof Promise) return made.then((later) => later ?? firstOf(steps, visit, at + 1))
    if (made !== undefined) return made
  }
  throw new Error('the last step makes a reply')
}
