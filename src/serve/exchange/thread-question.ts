import type { Ms } from '../../protocol/moment.ts'
import type { Problem } from '../../protocol/problem.ts'
import { problemReply, type Reply } from '../http/route.ts'
import type { Visit } from './visit.ts'

/** A request that has passed every check, or a refusal to be shown as a page: plain data for another thread. */
export type Question = Readonly<{
  /** Problem of the refusal; null when the request is valid. */
  refused: Problem | null
  method: 'GET' | 'HEAD'
  /** Raw path. */
  path: string
  rawQuery: string
  ifNoneMatch: string | undefined
  acceptEncoding: string | undefined
  now: Ms
  /** Latest moment that the query may name. */
  latest: Ms
}>

/** The clock, and the latest moment that a query may name. */
export type Present = Pick<Question, 'now' | 'latest'>

/** Answers a question in its caller's turn. Makes nothing if `gone` returns true, because the caller has left. */
export type AnswerInTurn = (caller: string, question: Question, gone: () => boolean) => Promise<Reply>

/** Has another thread answer a visit, or show the problem that refuses it as a page. */
export type AskElsewhere = (
  visit: Pick<Visit, 'caller' | 'response' | 'terms' | 'path' | 'rawQuery'>,
  refused: Problem | null,
) => Promise<Reply>

/** Opens the way to other threads. */
export function openAskElsewhere(answer: AnswerInTurn, present: () => Present): AskElsewhere {
  return ({ caller, response, terms, path, rawQuery }, refused) => {
    const { ifNoneMatch, acceptEncoding, head } = terms
    const method = head ? 'HEAD' : 'GET'
    const asked = { refused, method, path, rawQuery, ifNoneMatch, acceptEncoding } as const
    const question: Question = { ...asked, ...present() }
    return answer(caller, question, () => response.destroyed)
  }
}

/** Makes the reply of a refusal: JSON under the API and for a stream, a page elsewhere. */
export type Refuse = (visit: Visit, problem: Problem) => Reply | Promise<Reply>

/** Opens the making of refusals. */
export function openRefuse(askElsewhere: AskElsewhere): Refuse {
  return (visit, problem) => {
    const isForScripts = visit.underApi || visit.found?.route.streaming === true
    return isForScripts ? problemReply(problem) : askElsewhere(visit, problem)
  }
}
