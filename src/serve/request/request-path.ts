import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { assert } from '../../protocol/brand.ts'
import { type Ms, msOf } from '../../protocol/moment.ts'
import { PRECONDITION_FAILED, type Problem, type ProblemCode } from '../../protocol/problem.ts'
import { parseTraceparent } from '../../protocol/traceparent.ts'
import { type Counters, type Decision, extraCost } from '../allowance/allowance.ts'
import { type ConnectionCount, openCallerConnections } from '../allowance/caller-connections.ts'
import { openRequestFeeds, type RequestFeeds } from '../fairness/request-feeds.ts'
import { openRequestQueues, type RequestQueues } from '../fairness/request-queues.ts'
import { CLOCK_TOLERANCE_MS, type Following } from '../following/head-waits.ts'
import { prefersCsv } from '../http/accept.ts'
import { allows, names } from '../http/etag.ts'
import type { HeaderList } from '../http/headers.ts'
import { httpStatusOf } from '../http/problem-document.ts'
import { problemReply, type Reply, type RouteRequest } from '../http/route.ts'
import type { Found, Router } from '../http/router.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { parseQuery } from '../query/query.ts'
import { type AnswerCache, isCacheable } from './answer-cache.ts'
import { openAnswerDeadlines } from './answer-deadlines.ts'
import type { AnswerJob } from './answer-job.ts'
import {
  allowanceHeaders,
  type CheckRefusal,
  checkRefusal,
  openChecks,
  openSeqWait,
} from './request-checks.ts'
import { type ContextParts, header, openContexts, type RequestContext } from './request-context.ts'
import { partsOf, readPlainRequest, type TargetParts } from './request-form.ts'
import { etagOfReply, respond, sharedBodyOf, writeAnswer, type WrittenAnswer } from './respond.ts'
import { openUnreadAnswers, UNREAD_BYTES_MAX } from './unread-answers.ts'
import { openNearPaths } from '../query/nearest.ts'
import { openFairTurns } from '../fairness/fair-turns.ts'

/** Parts of a serving thread that its requests use. Nothing here is read from the environment. */
export type RequestPathParts = ContextParts &
  Readonly<{
    cache: AnswerCache
    /** Asks another thread for an answer that is not brief, or for the page of a refusal. */
    answer: AnswerElsewhere
    /** The caller that the allowance counts by. */
    callerOf(request: IncomingMessage): string
    /** The allowances; null when no limit is set. */
    counters: Counters | null
    /** Reason why this node currently answers nothing of the API; undefined when it does. */
    unready(): Problem | undefined
    /** Waits for the log that this node follows; null on a single node. */
    following: Following | null
    now(): Ms
    monotonicMs(): number
    metrics: Metrics
    report: Report
  }>

/** Makes an answer in its caller's turn. Does nothing if `gone` returns true, because the caller has left. */
export type AnswerElsewhere = (caller: string, job: AnswerJob, gone: () => boolean) => Promise<Reply>

/** The path of a thread's requests. */
export type RequestPath = Pick<RequestQueues, 'answering' | 'end'> &
  Pick<RequestFeeds, 'isPastTarget'> &
  Readonly<{ enter(request: IncomingMessage, response: ServerResponse): void }>

/** The report of answers. */
export type Report = Readonly<{
  /** Whether every answer is reported. Otherwise only slow answers and those with a status from 500 up are. */
  all: boolean
  answered(report: AnswerReport): void
  /** Called when an answer is cut: the caller was too slow, or unread answers fill the memory. */
  cut(fault: 'late' | 'memory'): void
}>

/** Answer in the report. Contains nothing of the request, except a well-formed `traceparent`. */
export type AnswerReport = Readonly<{
  /** Request id, also in a problem's `Daybook-Request` header. */
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

/** Milliseconds from which an answer is reported as slow, from its caller's turn until it is written. */
export const SLOW_ANSWER_MS = 1_000

const FAILED: Problem = {
  code: 'internal-error',
  detail: 'The server failed to answer. Its log has the error, with the id that is in Daybook-Request.',
}

/**
 * Opens the path of requests, from bytes on a connection to the written answer:
 *
 * 1. The bytes of a connection are parsed a slice at a time, and its requests run one at a time.
 * 2. A request waits for its caller's turn. A finished answer in the cache is written at once.
 * 3. Otherwise the request is parsed and routed (`request-context.ts`), and checked (`request-checks.ts`).
 * 4. Its route makes the reply: here when it is brief, else in another thread (`answer-job.ts`).
 * 5. The reply is written (`respond.ts`) and kept in the cache.
 *
 * A brief answer comes from steps 2 to 5 without an `await`, so that its caller's turn is charged for all of it.
 */
export function openRequestPath(
  server: Server,
  connections: ConnectionCount | null,
  parts: RequestPathParts,
): RequestPath {
  const { router, cache, counters, unready, now, monotonicMs, metrics, report } = parts
  const queues = openRequestQueues(begin, { onTaken: (socket: Socket) => feeds.resume(socket) })
  const feeds = openRequestFeeds(server, queues.isFull)
  const refuseOverLimit = openCallerConnections(server, connections, parts)
  const turns = openFairTurns(monotonicMs)
  const deadlines = openAnswerDeadlines(monotonicMs, () => report.cut('late'))
  const unread = openUnreadAnswers(UNREAD_BYTES_MAX, () => report.cut('memory'))
  const openContext = openContexts(parts)
  const check = openChecks({ counters, near: openNearPaths(router.paths), unready, metrics })
  const waitForSeq = parts.following === null ? null : openSeqWait(parts.following, metrics)
  const toleranceMs = parts.following === null ? 0 : CLOCK_TOLERANCE_MS

  function begin(request: IncomingMessage, response: ServerResponse): void {
    const caller = parts.callerOf(request)
    turns.run(caller, () => {
      // A caller that has left gets no answer.
      if (request.socket.destroyed) return
      const sent = partsOf(request.url ?? '')
      const decision = writeCached(request, response, caller, sent)
      if (decision !== 'written') void answer(openContext(request, response, caller, { sent, decision }))
    })
  }

  /**
   * Writes the cached answer of a plain request. Otherwise returns the decision of the allowance, if it was checked.
   */
  function writeCached(
    request: IncomingMessage,
    response: ServerResponse,
    caller: string,
    sent: TargetParts,
  ): 'written' | Decision | undefined {
    const plain = readPlainRequest(request)
    if (plain === undefined) return undefined
    const written = cache.find(sent, plain.acceptEncoding)?.written
    // The first answer to a caller that prefers CSV is made anew, because most of these are JSON.
    if (written === undefined || prefersCsv(plain.accept) || unready() !== undefined) return undefined
    const startedMs = monotonicMs()
    const { tally, allowance: scope, rows, body } = written
    let allowance: HeaderList = []
    if (counters !== null && scope !== 'none') {
      let decision: Decision
      try {
        decision = counters[scope].decide(caller)
      } catch {
        // The check of the allowance tries again. If it fails too, the caller gets a 500 and the error is reported.
        return undefined
      }
      if (!decision.allowed) return decision
      allowance = chargeRows(caller, rows) ?? allowanceHeaders(counters[scope].policy, decision)
    }
    writeAnswer(response, written, { head: false, ifNoneMatch: plain.ifNoneMatch, allowance })
    if (response.socket?.writableLength === 0) {
      tally.add('GET', response.statusCode, (monotonicMs() - startedMs) / 1000)
      return 'written'
    }
    deadlines.begin(response, { method: 'GET', tally, startedMs })
    unread.watch(response, caller, typeof body === 'string' ? null : body)
    return 'written'
  }

  /** Answers a request for which no cached answer fits. Never rejects. */
  async function answer(context: RequestContext): Promise<void> {
    const { request, response, caller, tally, terms } = context
    const startedMs = monotonicMs()
    deadlines.begin(response, { method: request.method ?? 'none', tally, startedMs })
    try {
      let made: Reply | CheckRefusal | undefined = check(context)
      if (made === undefined) {
        const waiting = waitForSeq?.(context)
        if (waiting !== undefined) made = await waiting
      }
      if (made === undefined) {
        const asked = askRoute(context)
        made = asked instanceof Promise ? await asked : asked
      }
      let problem = made.is === 'problem' || made.is === 'refused' ? made.problem : null
      let reply = made.is === 'refused' ? await refuse(context, made.problem) : made
      if ('rows' in reply) terms.allowance = chargeRows(caller, reply.rows) ?? terms.allowance
      const ifMatch = header(request, 'if-match')
      const etag = ifMatch === undefined ? null : etagOfReply(reply, terms.acceptEncoding)
      // It comes before all other conditions (RFC 9110, section 13.2.2).
      if (etag !== null && !allows(ifMatch, etag)) {
        problem = PRECONDITION_FAILED
        reply = await refuse(context, problem)
      }
      if (response.destroyed) return
      // The route writes the response itself, under its own limits.
      if (reply.is === 'streamed') return deadlines.lift(response)
      // A file also lasts as long as its caller reads.
      if (reply.is === 'file' && !terms.head) deadlines.lift(response)
      const ms = monotonicMs() - startedMs
      reportAnswer(context, { status: statusOf(reply), code: problem?.code ?? null, ms, error: null })
      const writing = respond(response, terms, reply)
      if (writing !== undefined) await writing
      unread.watch(response, caller, sharedBodyOf(reply))
    } catch (error) {
      await fail(context, error, monotonicMs() - startedMs)
    }
  }

  /** Parses the query and calls the route, here if the answer is brief, otherwise in another thread. */
  function askRoute(context: RequestContext): Reply | CheckRefusal | Promise<Reply> {
    const { request, response, caller, path, rawQuery, found, terms } = context
    assert(found !== undefined, 'a path without a route is refused before')
    const { route, segments } = found
    const parsed = parseQuery(rawQuery, route.parameters)
    if (!parsed.ok) return checkRefusal(withFile(parsed.problem, context, router))
    const query = parsed.value
    const method = terms.head ? 'HEAD' : 'GET'
    const ms = now()
    const asked = { method, path, segments, now: ms, latest: msOf(ms + toleranceMs) } as const

    const ask: RouteRequest = {
      ...asked,
      query,
      header: (name) => header(request, name),
      holds: (etag) => names(terms.ifNoneMatch, etag),
    }

    // Without chunks a cut CSV file would look whole, so HTTP/1.0 gets a page.
    const whole = route.streaming === true || request.httpVersion === '1.0' ? undefined : route.whole
    const streams = route.streaming === true ? route : whole?.takes(query) === true ? whole : undefined
    if (streams !== undefined) {
      const headers = [...terms.common, ...terms.allowance]
      return streams.handle({ ...ask, caller, request, response, headers })
    }
    assert(route.streaming !== true, 'a stream is answered above')
    if (typeof route.brief === 'function' ? route.brief(query) : route.brief === true) {
      const present = cache.present(path)
      terms.onWritten = (reply, written) => keep(context, found, present, reply, written)
      return route.handle(ask)
    }
    terms.onWritten = (reply, written) => keep(context, found, null, reply, written)
    const { ifNoneMatch, acceptEncoding } = terms
    const { target } = context
    const job = { ...asked, is: 'request', route: route.path, target, query: query.values } as const
    return parts.answer(caller, { ...job, ifNoneMatch, acceptEncoding }, () => response.destroyed)
  }

  /**
   * Caches the written form of an answer. `present` is the state before a brief answer was made. An answer of another
   * thread is in the cache already.
   */
  function keep(
    context: RequestContext,
    { route: { allowance } }: Found,
    present: string | null,
    reply: Extract<Reply, { is: 'coded' }>,
    form: WrittenAnswer,
  ): void {
    const { tally, terms, path } = context
    if (terms.revalidated || !isCacheable(reply)) return
    const written = { ...form, tally, allowance, rows: reply.rows }
    if (present === null) {
      const known = cache.find(context, terms.acceptEncoding)
      if (known?.reply === reply) known.written = written
    } else if (reply.keep === 'immutable') {
      cache.set(context, reply, { present: null, reply: null, written })
    } else if (cache.present(path) === present) {
      cache.set(context, reply, { present, reply: null, written })
    }
  }

  /** Reply of a refusal: JSON for the API and streams, a page elsewhere. */
  function refuse(
    { caller, response, terms, ...context }: RequestContext,
    problem: Problem,
  ): Reply | Promise<Reply> {
    const { underApi, found, path, rawQuery } = context
    if (underApi || found?.route.streaming === true) return problemReply(problem)
    const { acceptEncoding } = terms
    const job = { is: 'refusal', problem, path, rawQuery, ifNoneMatch: undefined, acceptEncoding } as const
    return parts.answer(caller, { ...job, now: now() }, () => response.destroyed)
  }

  /** Charges a page for the rows that it has read beyond its first unit; undefined when that costs nothing more. */
  function chargeRows(caller: string, rows: number | undefined): HeaderList | undefined {
    const cost = extraCost(rows)
    if (counters === null || cost === 0) return undefined
    const { policy, decide } = counters.pages
    return allowanceHeaders(policy, decide(caller, cost))
  }

  /** Ends a request that threw. Reports the error, and sends a 500 if nothing was sent yet. */
  async function fail(context: RequestContext, error: unknown, ms: number): Promise<void> {
    const { request, response, terms } = context
    // A caller that leaves during an answer is not our failure.
    if (response.destroyed || request.socket.destroyed) return
    reportAnswer(context, { status: 500, code: FAILED.code, ms, error })
    if (response.headersSent) {
      response.destroy()
      return
    }
    let reply = problemReply(FAILED)
    try {
      reply = await refuse(context, FAILED)
    } catch {
      // The error page may fail too.
    }
    try {
      await respond(response, terms, reply)
    } catch {
      response.destroy()
    }
  }

  /** Reports an answer, if it is wanted. */
  function reportAnswer(
    { terms, found, request, caller }: RequestContext,
    one: Pick<AnswerReport, 'status' | 'code' | 'ms' | 'error'>,
  ): void {
    if (!report.all && one.status < 500 && one.ms < SLOW_ANSWER_MS) return
    report.answered({
      ...one,
      request: terms.requestIds.format(terms.requestNumber),
      route: found?.route.path ?? 'none',
      traceparent: parseTraceparent(request.headers['traceparent']),
      caller,
    })
  }

  return {
    enter(request, response) {
      if (!refuseOverLimit(request, response)) queues.enter(request, response)
    },
    isPastTarget: feeds.isPastTarget,
    answering: queues.answering,
    end: queues.end,
  }
}

/** HTTP status of a reply that `respond` writes. */
function statusOf(reply: Exclude<Reply, { is: 'streamed' }>): number {
  if (reply.is === 'problem') return httpStatusOf(reply.problem)
  if (reply.is === 'unchanged') return 304
  return reply.status ?? 200
}

const API = '/api/v1'
const FORMAT = /(?:^|&)format=(csv|json|ics)(?:&|$)/

/** Problem of a page's unknown `format`, with the probable file: `/payouts?format=csv`. */
function withFile(
  problem: Problem,
  { path, rawQuery, found: asked }: RequestContext,
  router: Router,
): Problem {
  if (asked?.route.parameters.some(({ name }) => name === 'format') === true) return problem
  const ending = problem.code === 'unknown-parameter' ? FORMAT.exec(rawQuery)?.[1] : undefined
  // The files of pages are outside the API.
  const page = path.startsWith(API) ? path.slice(API.length) : path
  // A variable part accepts any suffix, so `/api/v1/events/5.csv` leads back to `/api/v1/events/{seq}`.
  const file = [path, page]
    .map((at) => (ending === undefined ? undefined : router(`${at}.${ending}`)))
    .find((found) => found?.route.path.endsWith(`.${ending}`))
  // Uses the path in the table, because a part of the sent one may be a wallet address.
  return file === undefined
    ? problem
    : { ...problem, detail: `${problem.detail} Did you mean ${file.route.path}?` }
}
