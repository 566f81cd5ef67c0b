import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import { PUBLISH_BYTES_MAX } from '../../protocol/draft.ts'
import type { Chain } from '../../protocol/tx.ts'
import type { CommitQueue } from '../commits/commit-queue.ts'
import type { FailedOutcome } from '../admission/outcome.ts'
import type { ClusterSteps } from './cluster-requests.ts'
import { CLUSTER_PATHS, clusterRequest } from './cluster-requests.ts'
import type { DoorReport } from './door-replies.ts'
import { openDoorReport, readBody, REQUEST_HEADER, send, sendJson, sendProblem } from './door-replies.ts'
import { doorRefusal } from '../admission/outcome.ts'
import { parseDrafts } from '../admission/draft-body.ts'
import { HELD_PATHS, heldRequest } from './held-requests.ts'
import type { OperationsAnswer } from './operations.ts'
import type { TokenGuard } from './token-guard.ts'
import { openTokenGuard } from './token-guard.ts'

/** Milliseconds in which a publisher must send its headers, and its whole request. */
const HEADERS_MS = 5_000
const REQUEST_MS = 60_000
/** Most connections of the private listener. Public connections leave so many file descriptors free. */
export const DOOR_CONNECTIONS_MAX = 128
/** Most publish requests in progress. Bounds the memory of bodies and of drafts that wait for a commit. */
export const PUBLISH_REQUESTS_MAX = 64

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

export type DoorSettings = Readonly<{
  /** Id of the log, which every answer names. */
  log: string
  queue: CommitQueue
  /** Steps of the operator of a log on an engine; null for a log of this node alone. */
  steps: ClusterSteps | null
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
  /** Called for each request that is refused, at any path but those of the operations. */
  onAnswered(answer: DoorReport): void
  /** Whether `onAnswered` is called for accepted requests too. */
  tellsAccepted: boolean
  /** Beginning of the ids of requests, which tells starts of the service apart. */
  requestPrefix: string
  /** Called when an error of the service prevented an answer. */
  onFailure(error: unknown, answer: DoorReport): void
}>

/** Answer to a request with a valid token. */
type Answered = Readonly<{ ok: true; answer: object }> | FailedOutcome
/** Creates the private listener, through which all drafts come. It is not listening yet. */
export function createDoor(settings: DoorSettings): Server {
  const guard = openTokenGuard(settings.tokens, settings.monotonicMs)
  const underWay = { requests: 0, last: 0 }
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
      underWay.last += 1
      response.setHeader(REQUEST_HEADER, `${settings.requestPrefix}-${underWay.last.toString(36)}`)
      // While the door closes, publishers must not reuse their connections.
      if (!server.listening) response.setHeader('connection', 'close')
      const report = openDoorReport(request, response)
      answer(settings, { guard, underWay, report }, request, response).catch((error: unknown) => {
        // A publisher that hangs up while it sends is no error of the service.
        if (request.errored !== null || response.headersSent) return void response.destroy()
        settings.onFailure(error, report(FAILED))
        return sendProblem(response, FAILED)
      })
    },
  )
  server.maxConnections = DOOR_CONNECTIONS_MAX
  return server
}

const FAILED = doorRefusal('internal-error', 'the request could not be answered')

/** Report of one request, and the state that all share: those in progress, and the number of the last one. */
type DoorState = Readonly<{
  guard: TokenGuard
  underWay: { requests: number; last: number }
  report: ReturnType<typeof openDoorReport>
}>

async function answer(
  settings: DoorSettings,
  { guard, underWay, report }: DoorState,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const target = request.url ?? ''
  const queryAt = target.indexOf('?')
  const path = queryAt < 0 ? target : target.slice(0, queryAt)
  const query = queryAt < 0 ? null : target.slice(queryAt + 1)
  const method = path === '/publish' ? 'POST' : (HELD_PATHS.get(path) ?? CLUSTER_PATHS.get(path))
  if (method === undefined) {
    const found = await settings.operations(target)
    if (found === undefined)
      return sendProblem(response, doorRefusal('not-found', 'nothing is at this address'))
    return send(response, found.status, found.headers, found.body)
  }
  if (request.method !== method) {
    response.setHeader('allow', method)
    return sendProblem(response, doorRefusal('method-not-allowed', `this path takes ${method} only`))
  }
  // The token is checked before the query is refused, so that a token in the query counts as a wrong one.
  if (!(await isAuthorized(settings, { guard, report }, request, response))) return
  const run = (): Promise<Answered> =>
    path === '/publish'
      ? publishRequest(settings, request, query)
      : CLUSTER_PATHS.has(path)
        ? clusterRequest(settings.steps, request, [path, query])
        : heldRequest(settings.queue.held, request, [path, query])
  const outcome = settings.stopping()
    ? doorRefusal('not-ready', 'the service is stopping')
    : (request.headers['daybook-log'] ?? settings.log) !== settings.log
      ? doorRefusal('another-log', 'the request is for another log than that of this door')
      : await runLimited(underWay, run)
  if (path === '/publish')
    settings.onRequest(outcome.ok ? 'stored' : (OUTCOME_NAMES[outcome.code] ?? 'invalid'))
  if (!outcome.ok || settings.tellsAccepted) settings.onAnswered(report(outcome.ok ? null : outcome))
  if (outcome.ok) sendJson(response, outcome.answer)
  else sendProblem(response, outcome)
}

/** Whether the request has a valid token. Refuses it otherwise, with a delay that grows with the sender's failures. */
async function isAuthorized(
  settings: DoorSettings,
  { guard, report }: Pick<DoorState, 'guard' | 'report'>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<boolean> {
  const verdict = guard.judge(request)
  if (verdict.is === 'right') return true
  const outcome = verdict.is === 'refused' ? TOO_MANY : UNAUTHORIZED
  settings.onRequest('unauthorized')
  settings.onAnswered(report(outcome))
  response.setHeader('connection', 'close')
  if (verdict.is === 'refused') {
    response.setHeader('retry-after', verdict.retryAfterSeconds)
    sendProblem(response, outcome)
    return false
  }
  try {
    if (verdict.ms > 0) await settings.pause(verdict.ms)
  } finally {
    guard.answered()
  }
  response.setHeader('www-authenticate', 'Bearer')
  sendProblem(response, outcome)
  return false
}

const UNAUTHORIZED = doorRefusal('unauthorized', 'a valid token is required')
const TOO_MANY = doorRefusal('rate-limited', 'too many wrong tokens')

/** Runs a request, unless too many are in progress. */
async function runLimited(underWay: DoorState['underWay'], run: () => Promise<Answered>): Promise<Answered> {
  if (underWay.requests >= PUBLISH_REQUESTS_MAX)
    return doorRefusal(
      'not-ready',
      `${PUBLISH_REQUESTS_MAX} requests are in progress, the limit of this node`,
    )
  underWay.requests += 1
  try {
    return await run()
  } finally {
    underWay.requests -= 1
  }
}

async function publishRequest(
  settings: DoorSettings,
  request: IncomingMessage,
  query: string | null,
): Promise<Answered> {
  if (query !== null) return doorRefusal('unknown-parameter', 'the door takes no parameters')
  if (request.headers['content-encoding'] !== undefined) {
    return doorRefusal('unsupported-media-type', 'the request has a Content-Encoding: send it without one')
  }
  const type = (request.headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase()
  if (type !== 'application/json' && type !== 'application/x-ndjson') {
    const reason = 'the Content-Type of the request is neither application/json nor application/x-ndjson'
    return doorRefusal('unsupported-media-type', reason)
  }
  const bytes = await readBody(request, PUBLISH_BYTES_MAX)
  if (bytes === undefined) {
    return doorRefusal('too-large', `the request has more than ${PUBLISH_BYTES_MAX} bytes: split it`)
  }
  const body = await parseDrafts(bytes, type === 'application/x-ndjson', settings.chain)
  if (!body.ok) return body
  const outcome = await settings.queue.submit(body.drafts)
  return outcome.ok ? { ok: true, answer: { drafts: outcome.receipts } } : outcome
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
  'outcome-unknown': 'unavailable',
  behind: 'unavailable',
}
