import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { LogIdentity } from '../log/reader.ts'
import type { Ms } from '../protocol/moment.ts'
import type { Problem } from '../protocol/problem.ts'
import type { Decision } from './allowance.ts'
import { formatPolicy, formatRateLimit } from './allowance.ts'
import type { Counters } from './counters.ts'
import { scopeOfNothing, usedUp } from './counters.ts'
import { names } from './etag.ts'
import type { HeaderList } from './headers.ts'
import { ALLOWED_METHODS, commonHeaders, headerList, PREFLIGHT_HEADERS } from './headers.ts'
import type { Metrics } from './metrics.ts'
import { parseQuery } from './query.ts'
import { findReady, writeReady } from './ready-answer.ts'
import { openReadyReplies } from './ready-replies.ts'
import { hasBody, judgeForm, partsOf } from './request-form.ts'
import type { Terms } from './respond.ts'
import { respond } from './respond.ts'
import type { Ask, Reply, Route } from './route.ts'
import { problemReply } from './route.ts'
import type { Found, Router } from './router.ts'
import { openUnderway } from './underway.ts'
import { openUntaken } from './untaken.ts'

/** What an exchange works with; nothing here is read from the environment. */
export type Collaborators = Readonly<{
  identity: LogIdentity
  router: Router
  /** The caller that the allowance counts by, from the peer's address and `X-Forwarded-For`. */
  callerOf(peer: string | undefined, forwardedFor: string | undefined): string
  /** What counts requests; null when no limit is set. */
  counters: Counters | null
  /** Why this node answers nothing of the API at present; undefined when it does. */
  unready(): Problem | undefined
  /** How a refusal outside the API is told; as the API tells it when absent. */
  refuse?(problem: Problem, path: string, rawQuery: string): Reply | Promise<Reply>
  now(): Ms
  monotonicMs(): number
  problemBase: string
  metrics: Metrics
  /** Told what failed on our side, with the route's path. */
  report(error: unknown, route: string): void
}>

const API = /^\/api\/v1(?:[/?]|$)/
/**
 * Answers one request, from its form to its last byte; never throws. Undefined when the answer was ready and all of
 * it has been handed to the system.
 */
export type Exchange = (request: IncomingMessage, response: ServerResponse) => Promise<void> | undefined

export function openExchange(with_: Collaborators): Exchange {
  const common = headerList([], commonHeaders(with_.identity))
  const underway = openUnderway(with_.monotonicMs)
  const untaken = openUntaken()
  const ready = openReadyReplies()
  // What a stream's socket was asked first: requests pipelined behind it wait to learn whether they are run.
  const taken = new WeakMap<Socket, Promise<boolean>>()

  return (request, response) => {
    if (taken.has(request.socket)) return answer(request, response)
    const found = findReady(ready, request)
    if (found === undefined || with_.unready() !== undefined) return answer(request, response)
    const startedMs = with_.monotonicMs()
    const decision = decisionOrFailure(with_, request, found.plain.forwardedFor)
    if (decision !== undefined && (decision instanceof Promise || !decision.allowed)) {
      return answer(request, response, decision)
    }
    writeReady(response, found)
    const { tally } = found.reply
    if (response.socket?.writableLength === 0) {
      tally.add('GET', response.statusCode, (with_.monotonicMs() - startedMs) / 1000)
      return undefined
    }
    underway.begin(response, { method: 'GET', tally, startedMs, limited: true })
    untaken.watch(response)
    return Promise.resolve()
  }

  /** `decision` is that of the allowance, where it has been asked already. */
  async function answer(
    request: IncomingMessage,
    response: ServerResponse,
    decision?: Decision | Promise<Decision>,
  ): Promise<void> {
    const earlier = taken.get(request.socket)
    if (earlier !== undefined && (await earlier)) return
    // Nothing is computed for a caller that is gone, or was given up.
    if (request.socket.destroyed) return
    if (hasBody(request)) response.setHeader('Connection', 'close')
    const { target, path, rawQuery } = partsOf(request.url ?? '')
    const found = with_.router(path)
    const limited = found?.route.streaming !== true
    const tally = with_.metrics.tallies(found?.route.path ?? 'none')
    underway.begin(response, {
      method: request.method ?? 'none',
      tally,
      startedMs: with_.monotonicMs(),
      limited,
    })
    // What others may be refused for is looked at for each, and so nothing else is held ready.
    const holdable = found?.route.allowance === 'api' && API.test(target)
    const terms: ExchangeTerms = {
      ...termsOf(with_, request, common),
      allowance: [],
      ...(holdable ? { remember: (form, made) => ready.set(target, form, { tally, ...made }) } : {}),
    }
    try {
      const deciding = decide(with_, request, response, terms, { path, rawQuery, found, decision })
      if (!limited) taken.set(request.socket, isTaken(deciding))
      const reply = await deciding
      if (reply === undefined || response.destroyed) return
      await respond(response, terms, reply)
      if (limited) untaken.watch(response)
    } catch (error) {
      fail(with_, request, response, terms, error, found)
    }
  }
}

/** The terms of an answer that is being decided: the allowance is told of once it has been asked. */
type ExchangeTerms = Terms & { allowance: HeaderList }

/** Whether the reply takes the connection for itself: then nothing behind it on the socket is run. */
function isTaken(deciding: Promise<Reply | undefined>): Promise<boolean> {
  return deciding.then(
    (reply) => reply?.is === 'taken',
    () => false,
  )
}

type Target = Readonly<{
  path: string
  rawQuery: string
  found: Found | undefined
  decision: Decision | Promise<Decision> | undefined
}>

/** The one place that decides what a request gets; undefined when it has been answered here. */
async function decide(
  with_: Collaborators,
  request: IncomingMessage,
  response: ServerResponse,
  terms: ExchangeTerms,
  target: Target,
): Promise<Reply | undefined> {
  const { path, found } = target
  const forwardedFor = header(request, 'x-forwarded-for')
  const underApi = API.test(request.url ?? '')
  if (request.method !== 'OPTIONS') {
    const scope = found?.route.allowance ?? scopeOfNothing(path, underApi)
    const decision = target.decision ?? decisionOn(with_, scope, request, forwardedFor)
    const decided = decision instanceof Promise ? await decision : decision
    const refusal = decided === undefined ? undefined : refusalOf(with_, terms, scope, decided)
    if (refusal !== undefined) return refuse(with_, request, refusal)
  }
  const verdict = judgeForm(request)
  if (verdict !== 'fit') {
    response.setHeader('Connection', 'close')
    if (verdict !== 'too-many-headers') return problemReply(verdict)
    response.writeHead(431, [...terms.common, 'Content-Length', '0']).end()
    return undefined
  }
  if (request.method === 'OPTIONS') {
    response.writeHead(204, headerList(terms.common, PREFLIGHT_HEADERS)).end()
    return undefined
  }
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    const problem: Problem = { code: 'method-not-allowed', detail: `Allowed are ${ALLOWED_METHODS}.` }
    return problemReply(problem, { Allow: ALLOWED_METHODS })
  }
  if (found === undefined) return refuse(with_, request, underApi ? NO_ENDPOINT : NOTHING_HERE)
  const unready = underApi || found.route.showsLog === true ? with_.unready() : undefined
  if (unready !== undefined) return refuse(with_, request, unready)
  const query = parseQuery(target.rawQuery, found.route.parameters)
  if (!query.ok) return refuse(with_, request, query.problem)
  const method = request.method
  if (found.route.streaming === true) setHeaders(response, [...terms.common, ...terms.allowance])
  const now = with_.now()
  const caller = with_.callerOf(request.socket.remoteAddress, forwardedFor)
  const { route, segments } = found
  return route.handle(askOf({ method, path, segments, query: query.value, now, caller, request, response }))
}

const NOTHING_HERE: Problem = { code: 'not-found', detail: 'There is nothing at this address.' }
const NO_ENDPOINT: Problem = {
  ...NOTHING_HERE,
  detail: 'There is nothing at this address: /api/v1/openapi.json and /llms.txt name every one.',
}

/** What the allowance says of one more request; undefined where nothing is counted. */
function decisionOn(
  with_: Collaborators,
  scope: Route['allowance'],
  request: IncomingMessage,
  forwardedFor: string | undefined,
): Decision | Promise<Decision> | undefined {
  if (with_.counters === null || scope === 'none') return undefined
  return with_.counters[scope].decide(with_.callerOf(request.socket.remoteAddress, forwardedFor))
}

/** As `decisionOn`; what fails is met where the decision is waited for, and answered there. */
function decisionOrFailure(
  with_: Collaborators,
  request: IncomingMessage,
  forwardedFor: string | undefined,
): ReturnType<typeof decisionOn> {
  try {
    return decisionOn(with_, 'api', request, forwardedFor)
  } catch (error) {
    return Promise.reject(error)
  }
}

/** Tells the caller of its allowance; a problem when there is none left. */
function refusalOf(
  { counters, metrics }: Collaborators,
  terms: ExchangeTerms,
  scope: Route['allowance'],
  decision: Decision,
): Problem | undefined {
  if (counters === null || scope === 'none') return undefined
  const { policy } = counters[scope]
  terms.allowance = ['RateLimit-Policy', formatPolicy(policy), 'RateLimit', formatRateLimit(policy, decision)]
  if (decision.allowed) return undefined
  metrics.rateLimited.inc({ scope })
  return usedUp(policy, decision)
}

function askOf(parts: Omit<Ask, 'header' | 'holds'>): Ask {
  const { request } = parts
  return {
    ...parts,
    header: (name) => header(request, name),
    holds: (etag) => names(header(request, 'if-none-match'), etag),
  }
}

function header(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name]
  return Array.isArray(value) ? value.join(', ') : value
}

/** For a route that writes its answer itself. */
function setHeaders(response: ServerResponse, headers: HeaderList): void {
  for (let at = 0; at < headers.length; at += 2) response.setHeader(headers[at] ?? '', headers[at + 1] ?? '')
}

function termsOf(
  with_: Collaborators,
  request: IncomingMessage,
  common: HeaderList,
): Omit<Terms, 'allowance'> {
  return {
    common,
    head: request.method === 'HEAD',
    ifNoneMatch: header(request, 'if-none-match'),
    acceptEncoding: header(request, 'accept-encoding'),
    problemBase: with_.problemBase,
  }
}

function fail(
  with_: Collaborators,
  request: IncomingMessage,
  response: ServerResponse,
  terms: Terms,
  error: unknown,
  found: Found | undefined,
): void {
  // A caller that leaves in the middle of an answer is no failure of ours.
  if (response.destroyed || request.socket.destroyed) return
  with_.report(error, found?.route.path ?? 'none')
  if (response.headersSent) {
    response.destroy()
    return
  }
  const problem: Problem = { code: 'internal-error', detail: 'The answer could not be made. It is reported.' }
  refuse(with_, request, problem)
    // Where even the refusal fails, it is told without a page.
    .catch(() => problemReply(problem))
    .then((reply) => respond(response, terms, reply))
    .catch(() => response.destroy())
}

/** A refusal as the API tells it, or outside the API as its page. */
async function refuse(with_: Collaborators, request: IncomingMessage, problem: Problem): Promise<Reply> {
  const { target, path, rawQuery } = partsOf(request.url ?? '')
  if (API.test(target)) return problemReply(problem)
  return (await with_.refuse?.(problem, path, rawQuery)) ?? problemReply(problem)
}
