import type { IncomingMessage, ServerResponse } from 'node:http'
import { type ProblemCode, PROBLEMS } from '../../protocol/problem.ts'
import { shortenSender } from '../../protocol/sender-key.ts'
import { parseTraceparent } from '../../protocol/traceparent.ts'
import { readBody } from './listener-limits.ts'
import { parseObject } from '../admission/draft-json.ts'
import { requestRefusal, type DraftFault, type FailedOutcome, FAULTS_MAX } from '../admission/outcome.ts'
import type { RequestPermit } from './request-permits.ts'

/** Retry-After in seconds. Where a table carries the log, another node may answer immediately. */
const RETRY_SECONDS: Readonly<Partial<Record<ProblemCode, number>>> = {
  'not-ready': 1,
  'outcome-unknown': 2,
  'not-leading': 2,
  'store-full': 10,
  'held-full': 10,
  clock: 10,
}
/** Status of a draft with a wallet address. The public API has another one; here the draft is well-formed. */
const ADDRESS_STATUS = 422

/** Header with the id of the request. */
export const REQUEST_HEADER = 'daybook-request'

/** Answer of the private listener for log lines. Contains nothing of a draft but the name of a field. */
export type PublishApiReport = Readonly<{
  /** Request id, also in the answer's `Daybook-Request` header. */
  request: string
  status: number
  /** Code of the problem; null without one. */
  code: ProblemCode | null
  field: string | null
  /** The W3C `traceparent` of the request, if it is well-formed. */
  traceparent: string | undefined
  /** Network of the sender, without the bits that distinguish its neighbours. */
  caller: string
}>

/** Report of an answer to a request. `outcome` is null when the request was accepted; `address` is the sender's. */
export function reportOf(
  request: IncomingMessage,
  response: ServerResponse,
  address: string,
  outcome: FailedOutcome | null,
): PublishApiReport {
  return {
    request: String(response.getHeader(REQUEST_HEADER)),
    status: outcome === null ? 200 : statusOf(outcome.code),
    code: outcome?.code ?? null,
    field: outcome?.field ?? null,
    traceparent: parseTraceparent(request.headers['traceparent']),
    caller: shortenSender(address),
  }
}

function statusOf(code: ProblemCode): number {
  return code === 'address-forbidden' ? ADDRESS_STATUS : PROBLEMS[code].status
}

type JsonBody = Readonly<{ ok: true; value: Readonly<Record<string, unknown>> }> | FailedOutcome

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** A request with a valid token, and its permit. */
export type PermittedRequest = Readonly<{ request: IncomingMessage; permit: RequestPermit }>

/** Answer to a request with a valid token. */
export type Answered = Readonly<{ ok: true; answer: object }> | FailedOutcome

/** Operator steps on the private listener, by path. */
export type OperatorSteps = ReadonlyMap<string, (request: PermittedRequest) => Promise<Answered>>

/** Refuses a request that has lost its permit. */
export const PERMIT_LOST: FailedOutcome = requestRefusal(
  'not-ready',
  'other requests took the place of this one before its body was whole: send it again',
)

/** Reads a request body that is a JSON object. `what` names the request in refusals. */
export async function readJsonBody(
  { request, permit }: PermittedRequest,
  what: string,
  bytesMax: number,
): Promise<JsonBody> {
  const type = (request.headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase()
  if (request.headers['content-encoding'] !== undefined || type !== 'application/json') {
    return requestRefusal(
      'unsupported-media-type',
      `${what} must be application/json, without Content-Encoding`,
    )
  }
  const { end, bytes } = await readBody(request, bytesMax, permit.addBytes, permit.lost)
  if (end === 'too-long') return requestRefusal('too-large', `${what} has more than ${bytesMax} bytes`)
  if (!permit.bodyRead()) return PERMIT_LOST
  let text: string
  try {
    text = UTF8.decode(bytes)
  } catch {
    return requestRefusal('invalid-parameter', 'the request is not UTF-8')
  }
  const body = parseObject(text)
  return body.ok ? body : requestRefusal('invalid-parameter', `the request ${body.reason}`)
}

/** Sends a problem (RFC 9457) with its bad drafts. Repeats nothing of the input but their refs. */
export function sendProblem(response: ServerResponse, failure: FailedOutcome): void {
  const { code, field, reason, faults, held } = failure
  // A body may still be coming.
  if (code === 'too-large' || code === 'not-ready') response.setHeader('connection', 'close')
  const retry = RETRY_SECONDS[code]
  if (retry !== undefined) response.setHeader('retry-after', retry)
  const { title } = PROBLEMS[code]
  const status = statusOf(code)
  const document = {
    type: `/api/problems/${code}`,
    title,
    status,
    detail: faults === undefined ? (field === null ? reason : `${field}: ${reason}`) : detailOf(faults),
    code,
    ...(faults !== undefined && { errors: faults.map(errorOf) }),
    ...(held !== undefined && { held }),
  }
  send(response, status, { 'content-type': 'application/problem+json' }, JSON.stringify(document))
}

/** Text about the first bad draft, with the number of drafts in `errors`. */
function detailOf(faults: readonly DraftFault[]): string {
  const [first] = faults
  if (first === undefined) return ''
  const { index, line, field, reason } = first
  const draft = `draft ${index} (counted from 0)`
  const detail = `${line === undefined ? draft : `line ${line}, ${draft}`}, ${field}: ${reason}`
  if (faults.length === 1) return detail
  return `${detail}; \`errors\` names ${faults.length === FAULTS_MAX ? 'the first ' : ''}${faults.length} bad drafts`
}

function errorOf({ code, index, line, ref, field, reason }: DraftFault): object {
  return { draft: index, ...(line !== undefined && { line }), ref, field, code, message: reason }
}

/** Sends a JSON answer with status 200. */
export function sendJson(response: ServerResponse, answer: object): void {
  send(response, 200, { 'content-type': 'application/json' }, JSON.stringify(answer))
}

/** Sends an answer that no cache keeps. */
export function send(
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
