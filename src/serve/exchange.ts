import type { IncomingMessage, ServerResponse } from 'node:http'
import type { LogIdentity } from '../log/store/reader.ts'
import type { Ms } from '../protocol/moment.ts'
import type { Problem } from '../protocol/problem.ts'
import type { Decision, Policy } from './allowance/allowance.ts'
import { formatPolicy, formatRateLimit } from './allowance/allowance.ts'
import type { Question } from './answerer.ts'
import type { Counters } from './allowance/counters.ts'
import { extraCost, scopeOfNothing, usedUp } from './allowance/counters.ts'
import { names } from './http/etag.ts'
import { openFairTurns } from './fairness/fair-turns.ts'
import type { HeaderList } from './http/headers.ts'
import { ALLOWED_METHODS, commonHeaders, headerList, PREFLIGHT_HEADERS } from './http/headers.ts'
import type { Metrics } from './metrics/metrics.ts'
import type { ParsedQuery } from './http/query.ts'
import { parseQuery } from './http/query.ts'
import type { FoundReady } from './http/ready-answer.ts'
import { findReady, writeReady } from './http/ready-answer.ts'
import { openReadyReplies } from './http/ready-replies.ts'
import { judgeForm, judgeTarget } from './http/request-form.ts'
import { respond } from './http/respond.ts'
import type { AnswerRoute, RouteRequest, Reply } from './http/route.ts'
import { problemReply } from './http/route.ts'
import type { Found, Router } from './http/router.ts'
import { openUnderway } from './metrics/underway.ts'
import { openUntaken } from './http/untaken.ts'
import type { Visit, VisitSettings } from './visit.ts'
import { header, openVisit } from './visit.ts'

/** What an exchange works with; nothing here is read from the environment. */
export type Collaborators = Readonly<{
  identity: LogIdentity
  router: Router
  /** Answers what is not brief, and tells refusals outside the API as pages, in the caller's turn; nobody who is gone. */
  answer(caller: string, question: Question, gone: () => boolean): Promise<Reply>
  /** The caller that the allowance counts by. */
  callerOf(request: IncomingMessage): string
  /** What counts requests; null when no limit is set. */
  counters: Counters | null
  /** Why this node answers nothing of the API at present; undefined when it does. */
  unready(): Problem | undefined
  now(): Ms
  monotonicMs(): number
  problemBase: string
  metrics: Metrics
  /** Told what failed on our side, with the route's path. */
  report(error: unknown, route: string): void
}>

/** Answers one request, from its form to its last byte; never throws. */
export type Exchange = (request: IncomingMessage, response: ServerResponse) => void

/** Opens the exchange of one thread. Everything runs in its caller's turn; the steps of a visit stand in their order. */
export function openExchange(with_: Collaborators): Exchange {
  const turns = openFairTurns(with_.monotonicMs)
  const underway = openUnderway(with_.monotonicMs)
  const untaken = openUntaken()
  const ready = openReadyReplies()
  const { router, problemBase } = with_
  const { tallies } = with_.metrics
  const common = headerList([], commonHeaders(with_.identity))
  const settings: VisitSettings = { router, tallies, common, problemBase, ready }

  return (request, response) => {
    const caller = with_.callerOf(request)
    turns.run(caller, () => {
      // Nothing is computed for a caller that is gone, or was given up.
      if (!request.socket.destroyed) begin(request, response, caller)
    })
  }

  /** An answer that is ready is given; any other is made. */
  function begin(request: IncomingMessage, response: ServerResponse, caller: string): void {
    const found = findReady(ready, request)
    const make = (decision?: Decision | Promise<Decision>): void =>
      take(openVisit(settings, request, response, caller), decision)
    if (found === undefined || with_.unready() !== undefined) return make()
    const startedMs = with_.monotonicMs()
    if (with_.counters !== null) {
      const { decide } = with_.counters.api
      const decision = attempt(() => decide(caller))
      if (decision instanceof Promise || !decision.allowed) return make(decision)
    }
    give(response, found, startedMs)
  }

  function give(response: ServerResponse, found: FoundReady, startedMs: number): void {
    writeReady(response, found)
    const { tally } = found.reply
    if (response.socket?.writableLength === 0) {
      tally.add('GET', response.statusCode, (with_.monotonicMs() - startedMs) / 1000)
      return
    }
    underway.begin(response, { method: 'GET', tally, startedMs, limited: true })
    untaken.watch(response)
  }

  /** Takes a visit through its steps. `decision` is that of the allowance, where it has been asked already. */
  function take(visit: Visit, decision: Decision | Promise<Decision> | undefined): void {
    const { request, response, found, tally, terms } = visit
    const limited = found?.route.streaming !== true
    const method = request.method ?? 'none'
    underway.begin(response, { method, tally, startedMs: with_.monotonicMs(), limited })
    const write = (reply: Reply): Promise<void> | undefined =>
      response.destroyed ? undefined : respond(response, terms, reply)
    const written = attempt(() => {
      const allowed = allow(with_, visit, decision)
      const reply = then(allowed, (refusal) => refusal ?? replyTo(with_, visit))
      const charged = then(reply, (made) => charge(with_, visit, made))
      return then(then(charged, write), () => (limited ? untaken.watch(response) : undefined))
    })
    if (written instanceof Promise) written.catch((error: unknown) => fail(with_, visit, error))
  }
}

/** First step: the allowance. A refusal when there is none left. */
function allow(
  with_: Collaborators,
  visit: Visit,
  asked: Decision | Promise<Decision> | undefined,
): Reply | undefined | Promise<Reply | undefined> {
  const { request, found, path, underApi, caller, terms } = visit
  const scope = found?.route.allowance ?? scopeOfNothing(path, underApi)
  if (with_.counters === null || scope === 'none' || request.method === 'OPTIONS') return undefined
  const { policy, decide } = with_.counters[scope]
  return then(asked ?? decide(caller), (decision) => {
    terms.allowance = allowanceHeaders(policy, decision)
    if (decision.allowed) return undefined
    with_.metrics.rateLimited.inc({ scope })
    return refuse(with_, visit, usedUp(policy, decision))
  })
}

/** Second step: what the request gets. The one place that decides it. */
function replyTo(with_: Collaborators, visit: Visit): Reply | Promise<Reply> {
  const { request, response, found, underApi } = visit
  const verdict = judgeForm(request)
  if (verdict !== 'fit') {
    response.setHeader('Connection', 'close')
    if (verdict !== 'too-many-headers') return problemReply(verdict)
    return { is: 'bare', status: 431, headers: { 'Content-Length': '0' } }
  }
  if (request.method === 'OPTIONS') return { is: 'bare', status: 204, headers: PREFLIGHT_HEADERS }
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    const problem: Problem = { code: 'method-not-allowed', detail: `Allowed are ${ALLOWED_METHODS}.` }
    return problemReply(problem, { Allow: ALLOWED_METHODS })
  }
  const tooLong = judgeTarget(request)
  if (tooLong !== undefined) return refuse(with_, visit, tooLong)
  if (found === undefined) return refuse(with_, visit, underApi ? NO_ENDPOINT : NOTHING_HERE)
  const unready = underApi || found.route.showsLog === true ? with_.unready() : undefined
  if (unready !== undefined) return refuse(with_, visit, unready)
  const query = parseQuery(visit.rawQuery, found.route.parameters)
  if (!query.ok) return refuse(with_, visit, query.problem)
  return answer(with_, visit, found, query.value)
}

/** Third step: the answer, made here where it is brief, else elsewhere and in turn. */
function answer(
  with_: Collaborators,
  visit: Visit,
  { route, segments }: Found,
  query: ParsedQuery,
): Reply | Promise<Reply> {
  const { request, response, terms, caller, path } = visit
  const ask: RouteRequest = {
    method: request.method === 'HEAD' ? 'HEAD' : 'GET',
    path,
    segments,
    query,
    now: with_.now(),
    header: (name) => header(request, name),
    holds: (etag) => names(terms.ifNoneMatch, etag),
  }
  if (route.streaming === true) {
    // It may write its answer itself.
    setHeaders(response, [...terms.common, ...terms.allowance])
    return route.handle({ ...ask, caller, request, response })
  }
  return isBrief(route, query) ? route.handle(ask) : askElsewhere(with_, visit, null)
}

function isBrief(route: AnswerRoute, query: ParsedQuery): boolean {
  return typeof route.brief === 'function' ? route.brief(query) : route.brief === true
}

/** Fourth step: what a page read counts too. */
function charge({ counters }: Collaborators, visit: Visit, reply: Reply): Reply | Promise<Reply> {
  const cost = extraCost('rows' in reply ? reply.rows : 0)
  if (counters === null || cost === 0) return reply
  const { policy, decide } = counters.pages
  return then(decide(visit.caller, cost), (decision) => {
    visit.terms.allowance = allowanceHeaders(policy, decision)
    return reply
  })
}

function allowanceHeaders(policy: Policy, decision: Decision): HeaderList {
  return ['RateLimit-Policy', formatPolicy(policy), 'RateLimit', formatRateLimit(policy, decision)]
}

const NOTHING_HERE: Problem = { code: 'not-found', detail: 'There is nothing at this address.' }
const NO_ENDPOINT: Problem = {
  ...NOTHING_HERE,
  detail: 'There is nothing at this address: /api/v1/openapi.json and /llms.txt name every one.',
}

/** A refusal as the API tells it, or outside the API as its page. */
function refuse(with_: Collaborators, visit: Visit, problem: Problem): Reply | Promise<Reply> {
  if (visit.underApi) return problemReply(problem)
  return askElsewhere(with_, visit, problem)
}

function askElsewhere(with_: Collaborators, visit: Visit, refused: Problem | null): Promise<Reply> {
  const { caller, response, terms, path, rawQuery } = visit
  const { ifNoneMatch, acceptEncoding, head } = terms
  const method = head ? 'HEAD' : 'GET'
  const question = { refused, method, path, rawQuery, ifNoneMatch, acceptEncoding, now: with_.now() } as const
  return with_.answer(caller, question, () => response.destroyed)
}

function fail(with_: Collaborators, visit: Visit, error: unknown): void {
  const { request, response, terms, found } = visit
  // A caller that leaves in the middle of an answer is no failure of ours.
  if (response.destroyed || request.socket.destroyed) return
  with_.report(error, found?.route.path ?? 'none')
  if (response.headersSent) {
    response.destroy()
    return
  }
  const problem: Problem = { code: 'internal-error', detail: 'The answer could not be made. It is reported.' }
  Promise.resolve(attempt(() => refuse(with_, visit, problem)))
    // Where even the refusal fails, it is told without a page.
    .catch(() => problemReply(problem))
    .then((reply) => respond(response, terms, reply))
    .catch(() => response.destroy())
}

/** Goes on with a value, at once where it is there already, so that nothing comes between two steps. */
function then<Value, Result>(
  value: Value | Promise<Value>,
  next: (value: Value) => Result | Promise<Result>,
): Result | Promise<Result> {
  return value instanceof Promise ? value.then(next) : next(value)
}

/** What is thrown is met where the value is waited for. */
function attempt<Value>(make: () => Value | Promise<Value>): Value | Promise<Value> {
  try {
    return make()
  } catch (error) {
    return Promise.reject(error)
  }
}

function setHeaders(response: ServerResponse, headers: HeaderList): void {
  for (let at = 0; at < headers.length; at += 2) response.setHeader(headers[at] ?? '', headers[at + 1] ?? '')
}
