import { PRECONDITION_FAILED, type Problem } from '../../protocol/problem.ts'
import { allows } from '../http/etag.ts'
import { httpStatusOf } from '../http/problem-document.ts'
import { isCopied } from '../http/ready-replies.ts'
import { etagOfReply, respond } from '../http/respond.ts'
import type { Reply } from '../http/route.ts'
import type { UnreadAnswers } from './unread-answers.ts'
import type { AnswerDeadlines } from './answer-deadlines.ts'
import type { RowsCharge } from './allowance-step.ts'
import { attempt, type Eventual, whenKnown } from './eventual.ts'
import { type Report, reportAnswer } from './answer-report.ts'
import type { Refuse } from './thread-question.ts'
import { header, type Step, type StepRefusal, type Visit } from './visit.ts'

/** The steps of an exchange, and the counts of answers that have not ended. */
type ExchangeParts = Readonly<{
  /** The first step with a reply ends the steps; the last one always has a reply. */
  steps: readonly Step[]
  refuse: Refuse
  chargeRows: RowsCharge
  /** Ends a visit whose steps threw. */
  fail(visit: Visit, error: unknown, ms: number): void
  report: Report
  deadlines: AnswerDeadlines
  unread: UnreadAnswers
  monotonicMs(): number
}>

/** Opens the exchange: it takes a visit through its steps, charges for rows, and writes the reply. It never throws. */
export function openExchange(parts: ExchangeParts): (visit: Visit) => void {
  const { steps, refuse, chargeRows, fail, report, deadlines, unread, monotonicMs } = parts
  return (visit) => {
    const { request, response, caller, tally, terms } = visit
    const method = request.method ?? 'none'
    const startedMs = monotonicMs()
    let problem: Problem | null = null
    deadlines.begin(response, { method, tally, startedMs })
    const written = attempt(() => {
      const made = whenKnown(firstOf(steps, visit), (one) => {
        if (one.is === 'problem' || one.is === 'refused') ({ problem } = one)
        return one.is === 'refused' ? refuse(visit, one.problem) : one
      })
      const judged = whenKnown(made, (reply) => {
        chargeRows(visit, reply)
        if (isAllowed(visit, reply)) return reply
        problem = PRECONDITION_FAILED
        return refuse(visit, problem)
      })
      return whenKnown(judged, (reply) => {
        if (response.destroyed) return undefined
        // The route writes the response itself, under limits of its own.
        if (reply.is === 'taken') return deadlines.lift(response)
        // A file too: it is sent for as long as its caller reads it.
        if (reply.is === 'file' && !terms.head) deadlines.lift(response)
        const [status, ms] = [statusOf(reply), monotonicMs() - startedMs]
        reportAnswer(report, visit, { status, code: problem?.code ?? null, ms, error: null })
        const handedOver = respond(response, terms, reply)
        return whenKnown(handedOver, () => unread.watch(response, caller, sharedBodyOf(reply)))
      })
    })
    if (written instanceof Promise)
      written.catch((error: unknown) => fail(visit, error, monotonicMs() - startedMs))
  }
}

/** Whether the `If-Match` of a request allows this reply. It comes before all other conditions (RFC 9110, section 13.2.2). */
function isAllowed({ request, terms }: Visit, reply: Reply): boolean {
  const ifMatch = header(request, 'if-match')
  if (ifMatch === undefined) return true
  const etag = etagOfReply(reply, terms.acceptEncoding)
  return etag === null || allows(ifMatch, etag)
}

/** HTTP status of a reply that `respond` writes. */
function statusOf(reply: Exclude<Reply, { is: 'taken' }>): number {
  if (reply.is === 'problem') return httpStatusOf(reply.problem)
  if (reply.is === 'unchanged') return 304
  return reply.status ?? 200
}

/** Body that answers to other callers may have too. A short one is copied for each answer. */
function sharedBodyOf(reply: Reply): Uint8Array | null {
  if (reply.is !== 'coded' && reply.is !== 'body') return null
  return typeof reply.body === 'string' || isCopied(reply.body) ? null : reply.body
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
