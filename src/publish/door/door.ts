import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { type CrowdedConnections, endOldConnections, readPieces } from '../private-listener.ts'
import { PUBLISH_BYTES_MAX } from '../../protocol/draft.ts'
import type { Chain } from '../../protocol/tx.ts'
import type { CommitQueue } from '../commit-queue.ts'
import { doorRefusal, type FailedOutcome } from '../admission/outcome.ts'
import {
  type DoorReport,
  type DoorSteps,
  openDoorReport,
  PLACE_LOST,
  type PlacedRequest,
  REQUEST_HEADER,
  send,
  sendJson,
  sendProblem,
} from './door-replies.ts'
import { openBodyParser } from '../admission/draft-body.ts'
import type { LastWords } from './held-list.ts'
import { HELD_PATHS, heldRequest } from './held-requests.ts'
import type { OperationsAnswer } from './operations.ts'
import { openTokenGuard, type TokenGuard } from './token-guard.ts'
import {
  DOOR_BODIES_BYTES_MAX,
  DOOR_REQUESTS_MAX,
  openRequestRoom,
  type RequestRoom,
} from './request-room.ts'

/** Milliseconds in which a publisher must send its headers, and its whole request. */
const HEADERS_MS = 5_000
const REQUEST_MS = 60_000
/**
 * Most connections of the private listener; a further one ends the oldest that is idle or has no valid token. Public
 * connections leave so many file descriptors free.
 */
export const DOOR_CONNECTIONS_MAX = 128

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
  /** Last words of the RPC servers of `--finality` about a transaction. */
  lastWords: LastWords
  /** Steps of the operator of a log that other machines carry; null for a log of this node alone. */
  steps: DoorSteps | null
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
  const room = openRequestRoom(DOOR_REQUESTS_MAX, DOOR_BODIES_BYTES_MAX)
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
      // While the door closes, publishers must not reuse their connections.
      if (!server.listening) response.setHeader('connection', 'close')
      const report = openDoorReport(request, response)
      answer(settings, { guard, room, connections, report }, request, response).catch((error: unknown) => {
        // A publisher that hangs up while it sends is no error of the service.
        if (request.errored !== null || response.headersSent) return void response.destroy()
        settings.onFailure(error, report(FAILED))
        return sendProblem(response, FAILED)
      })
    },
  )
  const connections = endOldConnections(server, DOOR_CONNECTIONS_MAX, settings.onCrowded)
  return server
}

const FAILED = doorRefusal('internal-error', 'the request could not be answered')

/** Report of one request, and the state that all share. */
type DoorState = Readonly<{
  guard: TokenGuard
  room: RequestRoom
  connections: CrowdedConnections
  report: ReturnType<typeof openDoorReport>
}>

async function answer(
  settings: DoorSettings,
  { guard, room, connections, report }: DoorState,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const target = request.url ?? ''
  const queryAt = target.indexOf('?')
  const path = queryAt < 0 ? target : target.slice(0, queryAt)
  const query = queryAt < 0 ? null : target.slice(queryAt + 1)
  const step = settings.steps?.get(path)
  const method =
    path === '/publish' ? 'POST' : (HELD_PATHS.get(path) ?? (step === undefined ? undefined : 'POST'))
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
  const run = (placed: PlacedRequest): Promise<Answered> =>
    path === '/publish'
      ? publishRequest(settings, placed, query)
      : step !== undefined
        ? stepRequest(step, placed, query)
        : heldRequest({ queue: settings.queue.held, lastWords: settings.lastWords }, placed, [path, query])
  const outcome = settings.stopping()
    ? doorRefusal('not-ready', 'the service is stopping')
    : (request.headers['daybook-log'] ?? settings.log) !== settings.log
      ? doorRefusal('another-log', 'the request is for another log than that of this door')
      : await runPlaced(room, connections, request, run)
  if (path === '/publish')
    settings.onRequest(outcome.ok ? 'stored' : (OUTCOME_NAMES[outcome.code] ?? 'invalid'))
  if (!outcome.ok || settings.tellsAccepted) settings.onAnswered(report(outcome.ok ? null : outcome))
  if (outcome.ok) sendJson(response, outcome.answer)
  else sendProblem(response, outcome)
}

async function stepRequest(
  step: (request: PlacedRequest) => Promise<Answered>,
  placed: PlacedRequest,
  query: string | null,
): Promise<Answered> {
  if (query !== null) return doorRefusal('unknown-parameter', 'a step takes no parameters')
  return await step(placed)
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

/** Runs a request in a place of its own, unless all are kept. Its connection is not ended for a newer one meanwhile. */
async function runPlaced(
  room: RequestRoom,
  connections: CrowdedConnections,
  request: IncomingMessage,
  run: (placed: PlacedRequest) => Promise<Answered>,
): Promise<Answered> {
  using place = room.enter()
  if (place === null)
    return doorRefusal('not-ready', `${DOOR_REQUESTS_MAX} requests are in progress, the limit of this node`)
  const release = connections.hold(request.socket)
  try {
    return await run({ request, place })
  } finally {
    release()
  }
}

async function publishRequest(
  settings: DoorSettings,
  { request, place }: PlacedRequest,
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
  const parser = openBodyParser(type === 'application/x-ndjson', settings.chain)
  const end = await readPieces(
    request,
    PUBLISH_BYTES_MAX,
    async (piece) => {
      if (!place.take(piece.length)) return false
      await parser.take(piece)
      return true
    },
    place.lost,
  )
  if (end === 'too-long')
    return doorRefusal('too-large', `the request has more than ${PUBLISH_BYTES_MAX} bytes: split it`)
  if (!place.keep()) return PLACE_LOST
  const body = await parser.end()
  if (!body.ok) return body
  const outcome = await settings.queue.submit(body.drafts)
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
