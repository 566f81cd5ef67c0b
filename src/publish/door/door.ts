import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { Draft } from '../../protocol/draft.ts'
import { DRAFTS_MAX, PUBLISH_BYTES_MAX } from '../../protocol/draft.ts'
import { PROBLEMS } from '../../protocol/problem.ts'
import type { Chain } from '../../protocol/tx.ts'
import type { CommitQueue, Outcome } from './commit-queue.ts'
import { parseDraft } from '../admission/grammar.ts'
import { parseBody, parseLine } from '../admission/draft-json.ts'
import type { OperationsAnswer } from './operations.ts'
import type { TokenGuard } from './token-guard.ts'
import { openTokenGuard } from './token-guard.ts'

/** Milliseconds for a publisher to send its headers, and its whole request. */
const HEADERS_MS = 5_000
const REQUEST_MS = 60_000
/** Seconds after which a publisher may try again when the store is full, and when the door is. */
const FULL_RETRY_SECONDS = 10
const BUSY_RETRY_SECONDS = 1
/** Status of a refused address: the draft is well formed, and its content is not taken. */
const ADDRESS_STATUS = 422
/** Connections of the private listener at once: their files are kept free of public connections. */
export const DOOR_CONNECTIONS_MAX = 128
/** Publish requests under way at once: they bound the memory of bodies and of drafts that wait for a commit. */
export const PUBLISH_REQUESTS_MAX = 64

/** How a publish request ended, as the metrics count it. */
export type PublishOutcome = 'stored' | 'invalid' | 'conflict' | 'address' | 'unavailable' | 'unauthorized'

type DoorSettings = Readonly<{
  queue: CommitQueue
  chain: Chain
  /** The tokens that open the door: one, or two while they are being changed. */
  tokens: readonly string[]
  operations(path: string): Promise<OperationsAnswer | undefined>
  /** Whether the service stops: what is under way is answered, and nothing more is taken. */
  stopping(): boolean
  monotonicMs(): number
  /** Waits so many milliseconds. */
  pause(ms: number): Promise<void>
  onRequest(outcome: PublishOutcome): void
  /** Called when a request could not be answered for a reason of our own. */
  onFailure(error: unknown): void
}>

type Failed = Extract<Outcome, { ok: false }>
type Body = Readonly<{ ok: true; drafts: readonly Draft[] }> | Failed

/** Makes the private listener: the one way in. It is not listening yet. */
export function createDoor(settings: DoorSettings): Server {
  const guard = openTokenGuard(settings.tokens, settings.monotonicMs)
  const underWay = { requests: 0 }
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
      // A publisher that goes on while the door closes is told not to come back on this connection.
      if (!server.listening) response.setHeader('connection', 'close')
      answer(settings, { guard, underWay }, request, response).catch((error: unknown) => {
        // A publisher that hangs up while it sends is no failure of ours.
        if (request.errored !== null || response.headersSent) return void response.destroy()
        settings.onFailure(error)
        return sendProblem(response, failed('internal-error', 'the request could not be answered'))
      })
    },
  )
  server.maxConnections = DOOR_CONNECTIONS_MAX
  return server
}

/** What all requests of one door share. */
type Shared = Readonly<{ guard: TokenGuard; underWay: { requests: number } }>

async function answer(
  settings: DoorSettings,
  { guard, underWay }: Shared,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const target = request.url ?? ''
  // A token in the query opens nothing, and is told so as any other that is wrong.
  if (target !== '/publish' && !target.startsWith('/publish?')) {
    const found = await settings.operations(target)
    if (found === undefined) return sendProblem(response, failed('not-found', 'nothing is at this address'))
    return send(response, found.status, found.headers, found.body)
  }
  if (request.method !== 'POST') {
    response.setHeader('allow', 'POST')
    return sendProblem(response, failed('method-not-allowed', 'the door takes POST only'))
  }
  if (!(await isLetIn(settings, guard, request, response))) return
  if (target !== '/publish') {
    return sendProblem(response, failed('unknown-parameter', 'the door takes no parameters'))
  }
  const outcome = settings.stopping()
    ? failed('not-ready', 'the service is stopping')
    : await admitted(underWay, () => publishRequest(settings, request))
  settings.onRequest(outcome.ok ? 'stored' : (OUTCOME_NAMES[outcome.code] ?? 'invalid'))
  if (outcome.ok) {
    return send(
      response,
      200,
      { 'content-type': 'application/json' },
      JSON.stringify({ drafts: outcome.receipts }),
    )
  }
  if (outcome.code === 'too-large' || outcome.code === 'not-ready') response.setHeader('connection', 'close')
  if (outcome.code === 'not-ready') response.setHeader('retry-after', BUSY_RETRY_SECONDS)
  if (outcome.code === 'store-full') response.setHeader('retry-after', FULL_RETRY_SECONDS)
  sendProblem(response, outcome)
}

/** Whether the request has a right token; when it has not, it is refused here, the later the more often. */
async function isLetIn(
  settings: DoorSettings,
  guard: TokenGuard,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<boolean> {
  const verdict = guard.judge(request)
  if (verdict.is === 'right') return true
  settings.onRequest('unauthorized')
  response.setHeader('connection', 'close')
  if (verdict.is === 'refused') {
    response.setHeader('retry-after', verdict.retryAfterSeconds)
    sendProblem(response, failed('rate-limited', 'too many wrong tokens'))
    return false
  }
  try {
    if (verdict.ms > 0) await settings.pause(verdict.ms)
  } finally {
    guard.answered()
  }
  response.setHeader('www-authenticate', 'Bearer')
  sendProblem(response, failed('unauthorized', 'a valid token is required'))
  return false
}

/** Runs a request, unless as many as the door bears are under way. */
async function admitted(underWay: Shared['underWay'], run: () => Promise<Outcome>): Promise<Outcome> {
  if (underWay.requests >= PUBLISH_REQUESTS_MAX)
    return failed('not-ready', `${PUBLISH_REQUESTS_MAX} requests are under way`)
  underWay.requests += 1
  try {
    return await run()
  } finally {
    underWay.requests -= 1
  }
}

async function publishRequest(settings: DoorSettings, request: IncomingMessage): Promise<Outcome> {
  if (request.headers['content-encoding'] !== undefined) {
    return failed('unsupported-media-type', 'a request is sent without content encoding')
  }
  const type = (request.headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase()
  if (type !== 'application/json' && type !== 'application/x-ndjson') {
    return failed('unsupported-media-type', 'drafts are application/json or application/x-ndjson')
  }
  const bytes = await readBody(request)
  if (bytes === undefined) {
    return failed('too-large', `a request has at most ${PUBLISH_BYTES_MAX} bytes`)
  }
  const body = parseDrafts(bytes, type === 'application/x-ndjson', settings.chain)
  return body.ok ? settings.queue.submit(body.drafts) : body
}

async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  if (Number(request.headers['content-length'] ?? 0) > PUBLISH_BYTES_MAX) return undefined
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request) {
    if (!Buffer.isBuffer(chunk)) throw new TypeError('a request body comes as bytes')
    bytes += chunk.length
    if (bytes > PUBLISH_BYTES_MAX) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function parseDrafts(bytes: Buffer, lines: boolean, chain: Chain): Body {
  let text: string
  try {
    text = UTF8.decode(bytes)
  } catch {
    return failed('invalid-draft', 'the request is not UTF-8')
  }
  const values = lines ? parseLines(text) : parseArray(text)
  if ('ok' in values) return values
  if (values.length > DRAFTS_MAX) return failed('too-large', `a request has at most ${DRAFTS_MAX} drafts`)
  const drafts: Draft[] = []
  for (const [index, value] of values.entries()) {
    const parsed = parseDraft(value, { chain, mode: 'publish' })
    if (!parsed.ok) return { ok: false, code: parsed.code, index, field: parsed.field, reason: parsed.reason }
    drafts.push(parsed.draft)
  }
  return { ok: true, drafts }
}

function parseArray(text: string): readonly unknown[] | Failed {
  const body = parseBody(text)
  if (body.ok) return body.value
  return { ...failed('invalid-draft', body.reason), index: body.index ?? null }
}

// Blank as JSON sees it: a line with a byte order mark alone is a broken line.
const BLANK = /^[ \t\r]*$/

function parseLines(text: string): readonly unknown[] | Failed {
  const values: unknown[] = []
  for (const line of text.split('\n')) {
    if (BLANK.test(line)) continue
    // More lines than a request may hold are not parsed: their number alone refuses them.
    if (values.length > DRAFTS_MAX) break
    const parsed = parseLine(line)
    if (!parsed.ok) return { ...failed('invalid-draft', parsed.reason), index: values.length, field: 'draft' }
    values.push(parsed.value)
  }
  return values
}

function failed(code: Failed['code'], reason: string): Failed {
  return { ok: false, code, index: null, field: null, reason }
}

const OUTCOME_NAMES: Readonly<Partial<Record<Failed['code'], PublishOutcome>>> = {
  'address-forbidden': 'address',
  'ref-conflict': 'conflict',
  'wrong-state': 'conflict',
  'insufficient-balance': 'conflict',
  'not-ready': 'unavailable',
  'store-full': 'unavailable',
  'store-unavailable': 'unavailable',
}

/** An RFC 9457 document that names the draft's index, the field and the reason; nothing that was sent. */
function sendProblem(response: ServerResponse, { code, index, field, reason }: Failed): void {
  const { title } = PROBLEMS[code]
  const status = code === 'address-forbidden' ? ADDRESS_STATUS : PROBLEMS[code].status
  const place = [index === null ? '' : `draft ${index}`, field ?? ''].filter((part) => part !== '').join(', ')
  const detail = place === '' ? reason : `${place}: ${reason}`
  const errors =
    index === null ? {} : { errors: [{ draft: index, field: field ?? 'draft', message: reason }] }
  const document = { type: `/api/problems/${code}`, title, status, detail, code, ...errors }
  send(response, status, { 'content-type': 'application/problem+json' }, JSON.stringify(document))
}

function send(
  response: ServerResponse,
  status: number,
  headers: Readonly<Record<string, string>>,
  body: string,
): void {
  response.writeHead(status, {
    ...headers,
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  })
  response.end(body)
}
