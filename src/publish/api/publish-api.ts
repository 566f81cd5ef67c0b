import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { type CrowdedConnections, endOldConnections, readBody } from './listener-limits.ts'
import { PUBLISH_BYTES_MAX } from '../../protocol/draft.ts'
import type { Chain } from '../../protocol/tx.ts'
import { parseBody } from '../admission/draft-body.ts'
import { type FailedOutcome, requestRefusal } from '../admission/outcome.ts'
import type { CommitQueue } from '../commit-queue.ts'
import { HELD_PATHS, heldRequest, type LastMessages } from './held-api.ts'
import type { OperationsAnswer } from './operations.ts'
import {
  type Answered,
  type OperatorSteps,
  PERMIT_LOST,
  type PermittedRequest,
  type PublishApiReport,
  reportOf,
  REQUEST_HEADER,
  send,
  sendJson,
  sendProblem,
} from './publish-replies.ts'
import { API_REQUESTS_MAX, BODIES_BYTES_MAX, openRequestPermits } from './request-permits.ts'
import { openTokenGuard, type TokenGuard } from './token-guard.ts'

/** Timeouts in milliseconds for a publisher's headers, and for its whole request. */
const HEADERS_MS = 5_000
const REQUEST_MS = 60_000
/**
 * Most connections of the private listener. A further one ends the oldest that is idle or has no valid token. Public
 * connections leave this many file descriptors free.
 */
export const PUBLISH_CONNECTIONS_MAX = 128

export const PUBLISH_OUTCOMES = [
  'stored',
  'invalid',
  'conflict',
  'address',
  'unavailable',
  'unauthorized',
] as const
/** Outcome of a publish request in the metrics. */
export type PublishOutcome = (typeof PUBLISH_OUTCOMES)[number]

export type PublishApiSettings = Readonly<{
  /** Id of the log, which every answer names. */
  log: string
  queue: CommitQueue
  /** Last answers of a judge's servers about a transaction. */
  lastMessages: LastMessages
  /** Operator steps of a log that other machines carry; null for a log of this node alone. */
  steps: OperatorSteps | null
  chain: Chain
  /** Valid publish tokens: one, or two during a change. */
  tokens: readonly string[]
  operations(path: string): Promise<OperationsAnswer | undefined>
  /** Whether the service is stopping. Requests in progress are answered, new ones refused. */
  stopping(): boolean
  monotonicMs(): number
  /** Waits `ms` milliseconds. */
  pause(ms: number): Promise<void>
  onRequest(outcome: PublishOutcome): void
  /** Called when a connection is ended to make room for another. */
  onCrowded(): void
  /**
   * Called before the answer to each refused request, including those with a wrong token. With `tellsAccepted` it is
   * called for accepted ones too. Not called for operations, an unknown path or a wrong method.
   */
  onAnswered(answer: PublishApiReport): void
  /** Whether `onAnswered` is called for accepted requests too. */
  tellsAccepted: boolean
  /** Prefix of request ids, different for each start of the service. */
  requestPrefix: string
  /** Called when an error of the service prevented an answer. */
  onFailure(error: unknown, answer: PublishApiReport): void
}>

/** Creates the listener of the private publish API, through which all drafts come. It is not listening yet. */
export function createPublishApi(settings: PublishApiSettings): Server {
  const guard = openTokenGuard(settings.tokens, settings.monotonicMs)
  const permits = openRequestPermits(API_REQUESTS_MAX, BODIES_BYTES_MAX)
  let last = 0
  const server = createServer(
    {
      headersTimeout: HEADERS_MS,
      requestTimeout: REQUEST_MS,
      connectionsCheckingInterval: 1_000,
      keepAliveTimeout: 65_000,
      maxHeaderSize: 8_192,
      requireHostHeader: true,
    },
    (request, response) => {
      response.setHeader('daybook-log', settings.log)
      last += 1
      response.setHeader(REQUEST_HEADER, `${settings.requestPrefix}-${last.toString(36)}`)
      // Publishers must not reuse their connections while the listener closes.
      if (!server.listening) response.setHeader('connection', 'close')
      // Read now, because an aborted request has no socket at its end.
      const address = request.socket.remoteAddress ?? ''
      const report = (outcome: FailedOutcome | null): PublishApiReport =>
        reportOf(request, response, address, outcome)
      answer(settings, { guard, permits, connections, report }, request, response).catch((error: unknown) => {
        // A publisher that disconnects while it sends is no error of the service.
        if (request.errored !== null || response.headersSent) return void response.destroy()
        settings.onFailure(error, report(FAILED))
        return sendProblem(response, FAILED)
      })
    },
  )
  const connections = endOldConnections(server, PUBLISH_CONNECTIONS_MAX, settings.onCrowded)
  return server
}

const FAILED = requestRefusal('internal-error', 'the request could not be answered')

/** State of the listener that all requests share, and the report of one request. */
type ApiState = Readonly<{
  guard: TokenGuard
  permits: ReturnType<typeof openRequestPermits>
  connections: CrowdedConnections
  report(outcome: FailedOutcome | null): PublishApiReport
}>

async function answer(
  settings: PublishApiSettings,
  state: ApiState,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const target = request.url ?? ''
  const queryAt = target.indexOf('?')
  const path = queryAt < 0 ? target : target.slice(0, queryAt)
  const query = queryAt < 0 ? null : target.slice(queryAt + 1)
  const method = methodOf(settings, path)
  if (method === undefined) {
    const found = await settings.operations(target)
    if (found === undefined)
      return sendProblem(response, requestRefusal('not-found', 'nothing is at this address'))
    return send(response, found.status, found.headers, found.body)
  }
  if (request.method !== method) {
    response.setHeader('allow', method)
    return sendProblem(response, requestRefusal('method-not-allowed', `this path takes ${method} only`))
  }
  // The token is checked before the query is refused, so that a token in the query counts as a wrong one.
  if (!(await isAuthorized(settings, state, request, response))) return
  const outcome = await outcomeOf(settings, state, request, [path, query])
  if (path === '/publish')
    settings.onRequest(outcome.ok ? 'stored' : (OUTCOME_NAMES[outcome.code] ?? 'invalid'))
  if (!outcome.ok || settings.tellsAccepted) settings.onAnswered(state.report(outcome.ok ? null : outcome))
  if (outcome.ok) sendJson(response, outcome.answer)
  else sendProblem(response, outcome)
}

/** Method of a path; undefined for paths of the operations and for unknown paths. */
function methodOf({ steps }: PublishApiSettings, path: string): 'GET' | 'POST' | undefined {
  if (path === '/publish' || steps?.has(path) === true) return 'POST'
  return HELD_PATHS.get(path)
}

/** Runs a request with a valid token, if it gets a permit. */
async function outcomeOf(
  settings: PublishApiSettings,
  { permits, connections }: ApiState,
  request: IncomingMessage,
  [path, query]: readonly [path: string, query: string | null],
): Promise<Answered> {
  if (settings.stopping()) return requestRefusal('not-ready', 'the service is stopping')
  if ((request.headers['daybook-log'] ?? settings.log) !== settings.log)
    return requestRefusal('another-log', 'the request is for another log than that of this node')
  using permit = permits()
  if (permit === null)
    return requestRefusal('not-ready', `${API_REQUESTS_MAX} requests are in progress, the limit of this node`)
  // Until then a newer connection does not end this one.
  using _held = connections.hold(request.socket)
  const permitted = { request, permit }
  if (path === '/publish') return await acceptDrafts(settings, permitted, query)
  const step = settings.steps?.get(path)
  if (step === undefined) {
    const { queue, lastMessages } = settings
    return await heldRequest({ heldCommands: queue.held, lastMessages }, permitted, [path, query])
  }
  if (query !== null) return requestRefusal('unknown-parameter', 'a step takes no parameters')
  return await step(permitted)
}

/** Whether the request has a valid token. Otherwise refuses it, with a delay that grows with the sender's failures. */
async function isAuthorized(
  settings: PublishApiSettings,
  { guard, report }: Pick<ApiState, 'guard' | 'report'>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<boolean> {
  const verdict = guard.judge(request)
  if (verdict.is === 'right') return true
  const outcome = verdict.is === 'refused' ? TOO_MANY : UNAUTHORIZED
  settings.onRequest('unauthorized')
  settings.onAnswered(report(outcome))
  response.setHeader('connection', 'close')
  if (verdict.is === 'refused') response.setHeader('retry-after', verdict.retryAfterSeconds)
  else {
    try {
      if (verdict.ms > 0) await settings.pause(verdict.ms)
    } finally {
      guard.answered()
    }
    response.setHeader('www-authenticate', 'Bearer')
  }
  sendProblem(response, outcome)
  return false
}

const UNAUTHORIZED = requestRefusal('unauthorized', 'a valid token is required')
const TOO_MANY = requestRefusal('rate-limited', 'too many wrong tokens')

/** Reads and parses the drafts of a request, and waits until their commit is on the disk. */
async function acceptDrafts(
  { chain, queue }: PublishApiSettings,
  { request, permit }: PermittedRequest,
  query: string | null,
): Promise<Answered> {
  if (query !== null) return requestRefusal('unknown-parameter', 'a publish request takes no parameters')
  if (request.headers['content-encoding'] !== undefined) {
    return requestRefusal('unsupported-media-type', 'the request has a Content-Encoding: send it without one')
  }
  const type = (request.headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase()
  if (type !== 'application/json' && type !== 'application/x-ndjson') {
    const reason = 'the Content-Type of the request is neither application/json nor application/x-ndjson'
    return requestRefusal('unsupported-media-type', reason)
  }
  const { end, bytes } = await readBody(request, PUBLISH_BYTES_MAX, permit.addBytes, permit.lost)
  if (end === 'too-long')
    return requestRefusal('too-large', `the request has more than ${PUBLISH_BYTES_MAX} bytes: split it`)
  if (!permit.bodyRead()) return PERMIT_LOST
  const body = await parseBody(bytes, type === 'application/x-ndjson', chain)
  if (!body.ok) return body
  // The drafts are published even if the publisher disconnects from here on. It sends the same refs again.
  const outcome = await queue.submit(body.drafts)
  if (outcome.ok) return { ok: true, answer: { drafts: outcome.receipts } }
  const { faults } = outcome
  if (faults === undefined) return outcome
  return { ...outcome, faults: faults.map((fault) => ({ ...fault, line: body.lines[fault.index] })) }
}

const OUTCOME_NAMES: Readonly<Partial<Record<FailedOutcome['code'], PublishOutcome>>> = {
  'address-forbidden': 'address',
  'ref-conflict': 'conflict',
  'another-log': 'conflict',
  'wrong-state': 'conflict',
  'insufficient-balance': 'conflict',
  'not-ready': 'unavailable',
  clock: 'unavailable',
  'store-full': 'unavailable',
  'held-full': 'unavailable',
  'store-unavailable': 'unavailable',
  'not-leading': 'unavailable',
  'outcome-unknown': 'unavailable',
  behind: 'unavailable',
}
