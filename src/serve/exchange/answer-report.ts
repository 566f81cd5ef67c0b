import type { ProblemCode } from '../../protocol/problem.ts'
import { parseTraceparent } from '../../protocol/traceparent.ts'
import type { Visit } from './visit.ts'

/** Milliseconds from which on an answer is reported as slow, from its caller's turn until it is written. */
export const SLOW_ANSWER_MS = 1_000

/** One answer for the report. Contains nothing that was sent, except a well-formed `traceparent`. */
export type AnswerReport = Readonly<{
  /** Id of the request, which a problem has as `Daybook-Request`. */
  request: string
  /** Path of the route in the table; `none` when no route matched. */
  route: string
  status: number
  /** Code of the problem; null without one, and when only the page of the problem is known. */
  code: ProblemCode | null
  /** Milliseconds until it was written. */
  ms: number
  /** Error of ours; null for a refusal, such as that of a node that is not ready. */
  error: unknown
  traceparent: string | undefined
  /** The caller that the allowance counts by. */
  caller: string
}>

/** The report of answers. */
export type Report = Readonly<{
  /** Whether every answer is reported, not only the slow ones and those with a status from 500 up. */
  all: boolean
  answered(report: AnswerReport): void
  /** Called when an answer is cut: it was not taken within its time limit, or answers fill the memory. */
  cut(fault: 'late' | 'memory'): void
}>

/** Reports the answer of a visit, if it is wanted. */
export function reportAnswer(
  report: Report,
  { terms, found, request, caller }: Visit,
  answer: Pick<AnswerReport, 'status' | 'code' | 'ms' | 'error'>,
): void {
  if (!report.all && answer.status < 500 && answer.ms < SLOW_ANSWER_MS) return
  report.answered({
    ...answer,
    request: terms.requestIds.format(terms.request),
    route: found?.route.path ?? 'none',
    traceparent: parseTraceparent(request.headers['traceparent']),
    caller,
  })
}
