import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ServerResponse } from 'node:http'
import { CODED_BYTES_MIN, type Coding, compress, compressHere, negotiate } from '../http/coding.ts'
import { etagOf, names, weak } from '../http/etag.ts'
import { CACHE_CONTROL, type HeaderList, headerList } from '../http/headers.ts'
import { formatProblem, httpStatusOf, type RequestIds } from '../http/problem-document.ts'
import type { Reply } from '../http/route.ts'

/** Parts of a request that decide how its reply is written. */
export type ReplyTerms = Readonly<{
  head: boolean
  ifNoneMatch: string | undefined
  acceptEncoding: string | undefined
  problemBase: string
  /** Headers common to all answers. */
  common: HeaderList
  /**
   * Whether `Accept` chose another form than that of most callers. Then the answer is never immutable, because a cache that
   * ignores `Vary` would give it to all of them.
   */
  revalidated: boolean
  /** Number of the request, and its id for problems. */
  request: number
  requestIds: RequestIds
  /** Headers about the caller's allowance; answers that a shared cache may keep leave them out. */
  allowance: HeaderList
  /** Called with the written form of an answer, before it is written. */
  onWritten?: (reply: Of<'coded'>, written: WrittenAnswer) => void
}>

/** An answer as it is written, without the headers about its caller's allowance. */
export type WrittenAnswer = Readonly<{
  status: number
  etag: string | null
  /** Names and values in turn. */
  headers: string[]
  /** Headers of the 304 in its place. */
  unchanged: string[]
  body: WrittenBody
  /** Whether a shared cache gives it to other callers too, which have other allowances. */
  isPublic: boolean
}>

/** Bytes of a body. A short body is a string of one character for each byte, so that head and body are sent at once. */
type WrittenBody = Uint8Array | string

/** Bytes from which a body costs less when it is written apart from its head. */
const STRING_BYTES_MAX = 4 * 1024
/** Maps each byte to one character and back. */
const BODY_ENCODING = 'latin1'

type Of<Form extends Reply['is']> = Extract<Reply, { is: Form }>

/** Writes a reply. Undefined means that it was written at once; a promise settles when all of it is written. */
export function respond(
  response: ServerResponse,
  terms: ReplyTerms,
  reply: Reply,
): Promise<void> | undefined {
  if (reply.is !== 'streamed') dropAllowance(response, terms)
  switch (reply.is) {
    case 'body':
      return respondBody(response, terms, reply)
    case 'coded':
      return respondCoded(response, terms, reply)
    case 'file':
      return respondFile(response, terms, reply)
    case 'redirect':
      return respondRedirect(response, terms, reply)
    case 'unchanged':
      return respondUnchanged(response, terms, reply)
    case 'problem':
      return respondProblem(response, terms, reply)
    case 'bare':
      return respondBare(response, terms, reply)
    case 'streamed':
      return undefined
  }
}

/** Removes the allowance headers that a streaming route was given: its reply decides whether they are sent. */
function dropAllowance(response: ServerResponse, { allowance }: ReplyTerms): void {
  for (let at = 0; at < allowance.length; at += 2) response.removeHeader(allowance[at] ?? '')
}

/** ETag with which a reply to this `Accept-Encoding` is written; null when it has none, or is no answer to the request. */
export function etagOfReply(reply: Reply, acceptEncoding: string | undefined): string | null {
  switch (reply.is) {
    case 'body':
      return (reply.status ?? 200) === 200 ? planBody(reply, acceptEncoding).etag : null
    case 'coded':
      return reply.status === 200 ? reply.etag : null
    case 'file':
      return reply.etag
    case 'unchanged':
      return etagFor(reply.etag, reply.compress === false)
    case 'redirect':
    case 'problem':
    case 'bare':
    case 'streamed':
      return null
  }
}

/** A body before its compression. */
type Plan = Readonly<{
  plain: Uint8Array
  coding: Coding | undefined
  codable: boolean
  compressible: boolean
  etag: string | null
}>

function planBody(reply: Of<'body'>, acceptEncoding: string | undefined): Plan {
  const plain = typeof reply.body === 'string' ? Buffer.from(reply.body) : reply.body
  const compressible = reply.compress !== false
  const codable = compressible && plain.byteLength >= CODED_BYTES_MIN
  const coding = codable ? negotiate(acceptEncoding) : undefined
  // A strong ETag promises the same bytes, so compressed or changing bodies have weak ones.
  const exact = reply.etag === 'of-content' ? coding === undefined : !compressible
  const etag = etagFor(reply.etag === 'of-content' ? etagOf(plain) : reply.etag, exact)
  return { plain, coding, codable, compressible, etag }
}

function codedOf(reply: Of<'body'>, plan: Plan, body: Uint8Array): Of<'coded'> {
  const { coding = null, codable, compressible, etag } = plan
  const { keep, type, status = 200, rows = 0, headers } = reply
  const kept = headers === undefined ? { keep, etag } : { keep, etag, headers }
  const drawn = reply.picture === true ? ({ picture: true } as const) : {}
  return { is: 'coded', ...kept, ...drawn, status, type, body, coding, codable, compressible, rows }
}

/** Encodes a body in the coding that a caller prefers, in this thread. */
export function encodeBody(reply: Of<'body'>, acceptEncoding: string | undefined): Of<'coded'> {
  const plan = planBody(reply, acceptEncoding)
  const { plain, coding } = plan
  return codedOf(reply, plan, coding === undefined ? plain : compressHere(plain, coding))
}

function respondBody(
  response: ServerResponse,
  terms: ReplyTerms,
  reply: Of<'body'>,
): Promise<void> | undefined {
  const plan = planBody(reply, terms.acceptEncoding)
  const { plain, coding, etag } = plan
  if (coding === undefined || (etag !== null && names(terms.ifNoneMatch, etag))) {
    return respondCoded(response, terms, codedOf(reply, plan, plain))
  }
  return compress(plain, coding).then((bytes) => respondCoded(response, terms, codedOf(reply, plan, bytes)))
}

function respondCoded(response: ServerResponse, terms: ReplyTerms, reply: Of<'coded'>): undefined {
  const written = writtenOf(terms, reply)
  terms.onWritten?.(reply, written)
  writeAnswer(response, written, terms)
}

function writtenOf(terms: ReplyTerms, reply: Of<'coded'>): WrittenAnswer {
  const { status, etag, coding, compressible, type, body } = reply
  const { headers: unchanged, isPublic } = keptHeaders(terms, reply, compressible)
  const headers = [...unchanged]
  if (coding !== null) headers.push('Content-Encoding', coding)
  headers.push('Content-Type', type, 'Content-Length', String(body.byteLength))
  if (status >= 400) headers.push('Daybook-Request', terms.requestIds.format(terms.request))
  return { status, etag, headers, unchanged, body: bodyOf(body), isPublic }
}

/** Writes an answer, its head alone, or a 304 in its place. */
export function writeAnswer(
  response: ServerResponse,
  { status, etag, headers, unchanged, body, isPublic }: WrittenAnswer,
  { head, ifNoneMatch, allowance }: Pick<ReplyTerms, 'head' | 'ifNoneMatch' | 'allowance'>,
): void {
  const own = isPublic ? [] : allowance
  if (etag !== null && names(ifNoneMatch, etag)) {
    response.writeHead(304, own.length === 0 ? unchanged : [...unchanged, ...own]).end()
    return
  }
  response.writeHead(status, own.length === 0 ? headers : [...headers, ...own])
  if (head) response.end()
  else response.end(body, BODY_ENCODING)
}

/** The body in the form that is cheapest to write with `BODY_ENCODING`. */
function bodyOf(bytes: Uint8Array): WrittenBody {
  if (!isCopied(bytes)) return bytes
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString(BODY_ENCODING)
}

/** Whether `bodyOf` copies these bytes. */
function isCopied(bytes: Uint8Array): boolean {
  return bytes.byteLength <= STRING_BYTES_MAX
}

/** Body of a reply that answers to other callers may have too. A short one is copied for each answer. */
export function sharedBodyOf(reply: Reply): Uint8Array | null {
  if (reply.is !== 'coded' && reply.is !== 'body') return null
  return typeof reply.body === 'string' || isCopied(reply.body) ? null : reply.body
}

function respondBare(
  response: ServerResponse,
  terms: ReplyTerms,
  { status, headers }: Of<'bare'>,
): undefined {
  response.writeHead(status, headerList([...terms.common, ...terms.allowance], headers)).end()
}

async function respondFile(response: ServerResponse, terms: ReplyTerms, reply: Of<'file'>): Promise<void> {
  const headers = headersOf(terms, reply, false)
  headers.push('Content-Type', reply.type)
  if (reply.bytes !== null) headers.push('Content-Length', String(reply.bytes))
  response.writeHead(reply.status, headers)
  if (terms.head) {
    response.end()
    return
  }
  await pipeline(Readable.from(reply.chunks(), { objectMode: false, highWaterMark: 1 }), response)
}

function respondRedirect(response: ServerResponse, terms: ReplyTerms, reply: Of<'redirect'>): undefined {
  const keep = reply.status === 308 ? 'revalidate' : 'no-store'
  const further = { Location: reply.location, 'Cache-Control': CACHE_CONTROL[keep], 'Content-Length': '0' }
  response.writeHead(reply.status, headerList([...terms.common, ...terms.allowance], further))
  response.end()
}

function respondUnchanged(response: ServerResponse, terms: ReplyTerms, reply: Of<'unchanged'>): undefined {
  const compressible = reply.compress !== false
  const etag = etagFor(reply.etag, !compressible)
  response.writeHead(304, headersOf(terms, { ...reply, etag }, compressible))
  response.end()
}

function respondProblem(response: ServerResponse, terms: ReplyTerms, reply: Of<'problem'>): undefined {
  const body = Buffer.from(formatProblem(reply.problem, terms.problemBase))
  const { retryAfterSeconds } = reply.problem
  const headers = headerList([...terms.common, ...terms.allowance], {
    ...reply.headers,
    ...(retryAfterSeconds === undefined ? {} : { 'Retry-After': String(retryAfterSeconds) }),
    'Cache-Control': CACHE_CONTROL['no-store'],
    'Content-Type': 'application/problem+json',
    'Content-Length': String(body.byteLength),
    'Daybook-Request': terms.requestIds.format(terms.request),
  })
  response.writeHead(httpStatusOf(reply.problem), headers)
  response.end(terms.head ? undefined : body)
}

type Keeping = Pick<Of<'unchanged'>, 'keep' | 'headers' | 'etag'>

function etagFor(etag: string | null, exact: boolean): string | null {
  return etag === null || exact ? etag : weak(etag)
}

/** Headers that a 304 and its 200 have in common, with those about the caller's allowance. */
function headersOf(terms: ReplyTerms, kept: Keeping, compressible: boolean): string[] {
  const { headers, isPublic } = keptHeaders(terms, kept, compressible)
  return isPublic ? headers : [...headers, ...terms.allowance]
}

/** Headers that a 304 and its 200 have in common. */
function keptHeaders(
  terms: ReplyTerms,
  kept: Keeping,
  compressible: boolean,
): Pick<WrittenAnswer, 'headers' | 'isPublic'> {
  const { etag, headers } = kept
  const keep = terms.revalidated && kept.keep === 'immutable' ? 'revalidate' : kept.keep
  const isPublic = keep === 'immutable' || headers?.['Cache-Control']?.includes('s-maxage=') === true
  const list = [...terms.common, 'Cache-Control', CACHE_CONTROL[keep]]
  if (etag !== null) list.push('ETag', etag)
  const all = headers === undefined ? list : headerList(list, headers)
  if (compressible) addVary(all, 'Accept-Encoding')
  return { headers: all, isPublic }
}

/** Adds the name of a request header on which the answer depends. */
function addVary(list: string[], name: string): void {
  const at = list.findIndex((one, index) => index % 2 === 0 && one === 'Vary')
  if (at < 0) list.push('Vary', name)
  else list[at + 1] = `${list[at + 1]}, ${name}`
}
