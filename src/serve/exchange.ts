import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { LogIdentity } from '../log/reader.ts'
import type { Ms } from '../protocol/moment.ts'
import { SECOND_MS } from '../protocol/moment.ts'
import type { Problem } from '../protocol/problem.ts'
import type { Decision, Policy } from './allowance.ts'
import { formatPolicy, formatRateLimit } from './allowance.ts'
import { names } from './etag.ts'
import { ALLOWED_METHODS, commonHeaders, PREFLIGHT_HEADERS } from './headers.ts'
import type { Metrics } from './metrics.ts'
import { parseQuery } from './query.ts'
import { hasBody, judgeForm } from './request-form.ts'
import { respond } from './respond.ts'
import type { Ask, Reply, Route } from './route.ts'
import { problemReply } from './route.ts'
import type { Found, Router } from './router.ts'

/** The allowances a request may cost one of. */
export type AllowanceScope = Exclude<Route['allowance'], 'none'>

/** One allowance as an exchange asks it: here, or at a store that several machines share. */
export type Counter = Readonly<{
  policy: Policy
  /** Counts one request of a caller. */
  decide(caller: string): Decision | Promise<Decision>
}>

/** What an exchange works with; nothing here is read from the environment. */
export type Collaborators = Readonly<{
  identity: LogIdentity
  router: Router
  /** The caller that the allowance counts by, from the peer's address and `X-Forwarded-For`. */
  callerOf(peer: string | undefined, forwardedFor: string | undefined): string
  /** What counts requests; null when no limit is set. */
  counters: Readonly<Record<AllowanceScope, Counter>> | null
  /** Why this node answers nothing of the API at present; undefined when it does. */
  unready(): Problem | undefined
  now(): Ms
  monotonicMs(): number
  problemBase: string
  metrics: Metrics
  /** Told what failed on our side, with the route's path. */
  report(error: unknown, route: string): void
}>

/** An ordinary answer is given up when it has not been taken by then. */
export const ANSWER_MS_MAX = 30_000

const API = /^\/api\/v1(?:[/?]|$)/
/** Answers one request, from its form to its last byte; never throws. */
export type Exchange = (request: IncomingMessage, response: ServerResponse) => Promise<void>

export function openExchange(with_: Collaborators): Exchange {
  const common = Object.entries(commonHeaders(with_.identity))
  // What a stream's socket was asked first: requests pipelined behind it wait to learn whether they are run.
  const taken = new WeakMap<Socket, Promise<boolean>>()

  return async (request, response) => {
    const earlier = taken.get(request.socket)
    if (earlier !== undefined && (await earlier)) return
    for (const [name, value] of common) response.setHeader(name, value)
    if (hasBody(request)) response.setHeader('Connection', 'close')
    const target = request.url ?? ''
    const mark = target.indexOf('?')
    const path = mark < 0 ? target : target.slice(0, mark)
    const found = with_.router(path)
    observe(with_, request, response, found)
    try {
      const rawQuery = mark < 0 ? '' : target.slice(mark + 1)
      const deciding = decide(with_, request, response, { path, rawQuery, found })
      if (found?.route.streaming === true) taken.set(request.socket, isTaken(deciding))
      const reply = await deciding
      if (reply === undefined || response.destroyed) return
      await respond(response, termsOf(with_, request), reply)
    } catch (error) {
      fail(with_, request, response, error, found)
    }
  }
}

/** Whether the reply takes the connection for itself: then nothing behind it on the socket is run. */
function isTaken(deciding: Promise<Reply | undefined>): Promise<boolean> {
  return deciding.then(
    (reply) => reply?.is === 'taken',
    () => false,
  )
}

type Target = Readonly<{ path: string; rawQuery: string; found: Found | undefined }>

/** The one place that decides what a request gets; undefined when it has been answered here. */
async function decide(
  with_: Collaborators,
  request: IncomingMessage,
  response: ServerResponse,
  target: Target,
): Promise<Reply | undefined> {
  const { path, found } = target
  const caller = with_.callerOf(request.socket.remoteAddress, header(request, 'x-forwarded-for'))
  const underApi = API.test(request.url ?? '')
  if (underApi && request.method !== 'OPTIONS') {
    const refusal = await admitted(with_, response, found?.route.allowance ?? scopeOf(path), caller)
    if (refusal !== undefined) return refusal
  }
  const verdict = judgeForm(request)
  if (verdict !== 'fit') {
    response.setHeader('Connection', 'close')
    if (verdict !== 'too-many-headers') return problemReply(verdict)
    response.writeHead(431, { 'Content-Length': 0 }).end()
    return undefined
  }
  if (request.method === 'OPTIONS') {
    response.writeHead(204, { ...PREFLIGHT_HEADERS }).end()
    return undefined
  }
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    const problem: Problem = { code: 'method-not-allowed', detail: `Allowed are ${ALLOWED_METHODS}.` }
    return problemReply(problem, { Allow: ALLOWED_METHODS })
  }
  if (found === undefined) return problemReply(NOTHING_HERE)
  const unready = underApi ? with_.unready() : undefined
  if (unready !== undefined) return problemReply(unready)
  const query = parseQuery(target.rawQuery, found.route.parameters)
  if (!query.ok) return problemReply(query.problem)
  const method = request.method
  const now = with_.now()
  const { route, segments } = found
  return route.handle(askOf({ method, path, segments, query: query.value, now, caller, request, response }))
}

/** What a request costs where no route is: a tile that is not there costs what one costs that is. */
function scopeOf(path: string): AllowanceScope {
  return path.startsWith('/api/v1/log/tile/') ? 'tiles' : 'api'
}

const NOTHING_HERE: Problem = { code: 'not-found', detail: 'There is nothing at this address.' }

async function admitted(
  with_: Collaborators,
  response: ServerResponse,
  scope: Route['allowance'],
  caller: string,
): Promise<Reply | undefined> {
  if (with_.counters === null || scope === 'none') return undefined
  const { policy, decide: count } = with_.counters[scope]
  const decision = await count(caller)
  response.setHeader('RateLimit-Policy', formatPolicy(policy))
  response.setHeader('RateLimit', formatRateLimit(policy, decision))
  if (decision.allowed) return undefined
  with_.metrics.rateLimited.inc({ scope })
  return problemReply({
    code: 'rate-limited',
    detail: `${policy.requests} requests are allowed in any ${policy.windowMs / SECOND_MS} seconds. Live data comes by /api/v1/stream.`,
    retryAfterSeconds: decision.retryAfterSeconds,
  })
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

function termsOf(with_: Collaborators, request: IncomingMessage): Parameters<typeof respond>[1] {
  return {
    head: request.method === 'HEAD',
    ifNoneMatch: header(request, 'if-none-match'),
    acceptEncoding: header(request, 'accept-encoding'),
    problemBase: with_.problemBase,
  }
}

/** Counts the exchange when it is over, and gives an ordinary answer up that nobody takes. */
function observe(
  with_: Collaborators,
  request: IncomingMessage,
  response: ServerResponse,
  found: Found | undefined,
): void {
  const startedMs = with_.monotonicMs()
  const route = found?.route.path ?? 'none'
  const streaming = found?.route.streaming === true
  const giveUp = streaming ? undefined : setTimeout(() => response.destroy(), ANSWER_MS_MAX)
  response.once('close', () => {
    clearTimeout(giveUp)
    // 499: the caller left before there was an answer.
    const code = response.headersSent ? response.statusCode : 499
    with_.metrics.requests.inc({ route, method: request.method ?? 'none', code })
    if (!streaming) with_.metrics.duration.observe({ route }, (with_.monotonicMs() - startedMs) / 1000)
  })
}

function fail(
  with_: Collaborators,
  request: IncomingMessage,
  response: ServerResponse,
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
  respond(response, termsOf(with_, request), problemReply(problem)).catch(() => response.destroy())
}
