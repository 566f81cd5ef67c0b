import type { Ms } from '../../protocol/moment.ts'
import type { Problem } from '../../protocol/problem.ts'
import { names } from '../http/etag.ts'
import { type Reply, type Route } from '../http/route.ts'
import { openQuery, type ParsedValues } from '../query/query.ts'
import { encodeBody } from './respond.ts'

/** Work for an answer thread, as plain data. */
export type AnswerJob = RequestJob | RefusalJob

/** Request that has passed every check. The serving thread has found its route and parsed its query. */
export type RequestJob = Readonly<{
  is: 'request'
  method: 'GET' | 'HEAD'
  /** Path of its route in the table. */
  route: string
  /** Raw path, and the path with its query. */
  path: string
  target: string
  segments: Readonly<Record<string, string>>
  query: ParsedValues
  ifNoneMatch: string | undefined
  acceptEncoding: string | undefined
  now: Ms
  /** Latest moment that the query may name. */
  latest: Ms
}>

/** A refusal outside the API, which is shown as a page. */
type RefusalJob = Readonly<{
  is: 'refusal'
  problem: Problem
  path: string
  rawQuery: string
  ifNoneMatch: undefined
  acceptEncoding: string | undefined
  now: Ms
}>

/** Makes the page of a refusal outside the API. */
type RefusePage = (problem: Problem, path: string, rawQuery: string, now: Ms) => Reply | Promise<Reply>

/** Opens the answers of an answer thread. A body has the coding that the caller prefers. */
export function openAnswerer(
  routes: readonly Route[],
  refuse: RefusePage,
): (job: AnswerJob) => Promise<Reply> {
  const byPath = new Map(routes.map((route) => [route.path, route]))
  return async (job) => {
    const reply =
      job.is === 'refusal'
        ? await refuse(job.problem, job.path, job.rawQuery, job.now)
        : await answer(byPath.get(job.route), job)
    return reply.is === 'body' ? encodeBody(reply, job.acceptEncoding) : reply
  }
}

function answer(
  route: Route | undefined,
  { query, ifNoneMatch, ...request }: RequestJob,
): Reply | Promise<Reply> {
  if (route === undefined || route.streaming === true) throw new Error(`${request.route} has no answer`)
  return route.handle({
    ...request,
    query: openQuery(query, route.parameters),
    header: (name) => (name === 'if-none-match' ? ifNoneMatch : undefined),
    holds: (etag) => names(ifNoneMatch, etag),
  })
}
