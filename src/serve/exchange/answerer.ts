import type { Ms } from '../../protocol/moment.ts'
import type { Problem } from '../../protocol/problem.ts'
import { parseQuery } from '../query/query.ts'
import { names } from '../http/etag.ts'
import { encodeBody } from '../http/respond.ts'
import { problemReply, type Reply } from '../http/route.ts'
import type { Router } from '../http/router.ts'
import type { Question } from './thread-question.ts'

/** Answers questions in this thread. A body comes in the coding that the caller prefers. */
type Answerer = (question: Question) => Promise<Reply>

/** Makes the page of a refusal outside the API. */
type RefusePage = (problem: Problem, path: string, rawQuery: string, now: Ms) => Reply | Promise<Reply>

/** Opens an answerer over the routes of a thread. */
export function openAnswerer(router: Router, refuse: RefusePage): Answerer {
  return async (question) => {
    const { refused, path, rawQuery, now } = question
    const reply =
      refused === null ? await answer(router, question) : await refuse(refused, path, rawQuery, now)
    return reply.is === 'body' ? encodeBody(reply, question) : reply
  }
}

function answer(router: Router, question: Question): Reply | Promise<Reply> {
  const { method, path, rawQuery, ifNoneMatch, now, latest } = question
  const found = router(path)
  if (found === undefined || found.route.streaming === true) throw new Error(`${path} has no answer`)
  const query = parseQuery(rawQuery, found.route.parameters)
  if (!query.ok) return problemReply(query.problem)
  return found.route.handle({
    method,
    path,
    segments: found.segments,
    query: query.value,
    now,
    latest,
    header: (name) => (name === 'if-none-match' ? ifNoneMatch : undefined),
    holds: (etag) => names(ifNoneMatch, etag),
  })
}
