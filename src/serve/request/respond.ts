import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ServerResponse } from 'node:http'
import { CODED_BYTES_MIN, compress, compressHere, negotiate } from '../http/coding.ts'
import { etagOf, names, weak } from '../http/etag.ts'
import { CACHE_CONTROL, type HeaderList, headerList } from '../http/headers.ts'
import { formatProblem, httpStatusOf, type RequestIds } from '../http/problem-document.ts'
import type { Reply } from '../http/route.ts'

/** Parts of a request that determine how its reply is written. */
export type ReplyTerms = Readonly<{
  head: boolean
  ifNoneMatch: string | undefined
  acceptEncoding: string | undefined
  problemBase: string
  /** Headers common to all answers. */
  common: HeaderList
  /**
   * Whether `Accept` chose another form than most callers get. Then the answer is never immutable, because a cache that
   * ignores `Vary` would give it to all of them.
   */
  revalidated: boolean
  /** Number of the request, and its id for problems. */
  requestNumber: number
  requestIds: RequestIds
  /** Headers about the caller's allowance. Answers that a shared cache may keep omit them. */
  allowance: HeaderList
  /** Called with the written form of an answer, before it is written. */
  onWritten?: (reply: Of<'coded'>, written: WrittenAnswer) => void
}>

/** Answer in written form, without the headers about its caller's allowance. */
export type WrittenAnswer = Readonly<{
  status: number
  etag: string | null
  /** Names and values in turn. */
  headers: string[]
  /** Headers of the 304 in its place. */
  unchanged: string[]
  body: WrittenBody
  /** Whether a shared cache gives it to other callers, which have other allowances. */
  isPublic: boolean
}>

/**
 * Bytes of a body. A short body is a string with one character for each byte, so that head and body are sent together.
 */
type WrittenBody = Uint8Array | string

/** Body size from which a separate write is cheaper than copying it to the head. */
const STRING_BYTES_MAX = 4 * 1024
/** Maps each byte to one character and back. */
const BODY_ENCODING = 'latin1'

type Of<Form extends Reply['is']> = Extract<Reply, { is: Form }>

/** Writes a reply. Undefined means that it was written immediately; a promise settles when all of it is written. */
export function respond(
  response: ServerResponse,
  terms: ReplyTerms,
  reply: Reply,
): Promise<void> | undefined {
  switch (reply.is) {
    case 'body': {
      const plan = planBody(reply, terms.acceptEncoding)
      const { coding, etag } = plan
      if (coding === null) return respondCoded(response, terms, plan)
      // The 304 needs no compression. The plan is not cached, because its body is not yet in its coding.
      if (etag !== null && names(terms.ifNoneMatch, etag))
        return writeAnswer(response, writtenOf(terms, plan), terms)
      return compress(plan.body, coding).then((body) => respondCoded(response, terms, { ...plan, body }))
    }
    case 'coded':
      return respondCoded(response, terms, reply)
    case 'file':
      return respondFile(response, terms, reply)
    case 'unchanged': {
      const compressible = reply.compress !== false
      const kept = { ...reply, etag: etagFor(reply.etag, !compressible) }
      const { headers, isPublic } = keptHeaders(terms, kept, compressible)
      response.writeHead(304, isPublic ? headers : [...headers, ...terms.allowance]).end()
      return undefined
    }
    case 'redirect': {
      const keep = reply.status === 308 ? 'revalidate' : 'no-store'
      const headers = {
        Location: reply.location,
        'Cache-Control': CACHE_CONTROL[keep],
        'Content-Length': '0',
      }
      return respondPlain(response, terms, { status: reply.status, headers })
    }
    case 'problem': {
      const { problem } = reply
      const body = Buffer.from(formatProblem(problem, terms.problemBase))
      const headers = {
        ...reply.headers,
        ...(problem.retryAfterSeconds === undefined
          ? {}
          : { 'Retry-After': String(problem.retryAfterSeconds) }),
        'Cache-Control': CACHE_CONTROL['no-store'],
        'Content-Type': 'application/problem+json',
        'Content-Length': String(body.byteLength),
        'Daybook-Request': terms.requestIds.format(terms.requestNumber),
      }
      return respondPlain(response, terms, { status: httpStatusOf(problem), headers, body })
    }
    case 'bare':
      return respondPlain(response, terms, reply)
    case 'streamed':
      return undefined
  }
}

/** ETag of a reply written for this `Accept-Encoding`; null when it has none, or is no answer to the request. */
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

/** Body with its coding and its final ETag, before it is encoded. */
function planBody(reply: Of<'body'>, acceptEncoding: string | undefined): Of<'coded'> {
  const { keep, type, status = 200, rows = 0, headers, picture } = reply
  const body = typeof reply.body === 'string' ? Buffer.from(reply.body) : reply.body
  const compressible = reply.compress !== false
  const codable = compressible && body.byteLength >= CODED_BYTES_MIN
  const coding = (codable ? negotiate(acceptEncoding) : undefined) ?? null
  // A strong ETag promises the same bytes, so compressed or changing bodies have weak ones.
  const etag =
    reply.etag === 'of-content' ? etagFor(etagOf(body), coding === null) : etagFor(reply.etag, !compressible)
  return {
    is: 'coded',
    keep,
    etag,
    status,
    type,
    body,
    coding,
    codable,
    compressible,
    rows,
    ...(headers === undefined ? {} : { headers }),
    ...(picture === undefined ? {} : { picture }),
  }
}

/** Encodes a body in the coding that a caller prefers, in this thread. */
export function encodeBody(reply: Of<'body'>, acceptEncoding: string | undefined): Of<'coded'> {
  const plan = planBody(reply, acceptEncoding)
  return plan.coding === null ? plan : { ...plan, body: compressHere(plan.body, plan.coding) }
}

function etagFor(etag: string | null, exact: boolean): string | null {
  return etag === null || exact ? etag : weak(etag)
}

function respondCoded(response: ServerResponse, terms: ReplyTerms, reply: Of<'coded'>): undefined {
  const written = writtenOf(terms, reply)
  terms.onWritten?.(reply, written)
  return writeAnswer(response, written, terms)
}

function writtenOf(terms: ReplyTerms, reply: Of<'coded'>): WrittenAnswer {
  const { status, etag, coding, compressible, type, body } = reply
  const { headers: unchanged, isPublic } = keptHeaders(terms, reply, compressible)
  const headers = [...unchanged]
  if (coding !== null) headers.push('Content-Encoding', coding)
  headers.push('Content-Type', type, 'Content-Length', String(body.byteLength))
  if (status >= 400) headers.push('Daybook-Request', terms.requestIds.format(terms.requestNumber))
  const short = isCopied(body)
    ? Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString(BODY_ENCODING)
    : body
  return { status, etag, headers, unchanged, body: short, isPublic }
}

/** Headers that a 304 and its 200 have in common. */
function keptHeaders(
  terms: ReplyTerms,
  { keep: asked, etag, headers }: Pick<Of<'unchanged'>, 'keep' | 'headers' | 'etag'>,
  compressible: boolean,
): Pick<WrittenAnswer, 'headers' | 'isPublic'> {
  const keep = terms.revalidated && asked === 'immutable' ? 'revalidate' : asked
  const isPublic = keep === 'immutable' || headers?.['Cache-Control']?.includes('s-maxage=') === true
  const list = [...terms.common, 'Cache-Control', CACHE_CONTROL[keep]]
  if (etag !== null) list.push('ETag', etag)
  const all = headers === undefined ? list : headerList(list, headers)
  if (!compressible) return { headers: all, isPublic }
  const vary = all.indexOf('Vary')
  if (vary < 0) all.push('Vary', 'Accept-Encoding')
  else all[vary + 1] = `${all[vary + 1]}, Accept-Encoding`
  return { headers: all, isPublic }
}

/** Writes an answer, only its head, or a 304 instead. */
export function writeAnswer(
  response: ServerResponse,
  { status, etag, headers, unchanged, body, isPublic }: WrittenAnswer,
  { head, ifNoneMatch, allowance }: Pick<ReplyTerms, 'head' | 'ifNoneMatch' | 'allowance'>,
): undefined {
  const own = isPublic ? [] : allowance
  if (etag !== null && names(ifNoneMatch, etag)) {
    response.writeHead(304, own.length === 0 ? unchanged : [...unchanged, ...own]).end()
    return
  }
  response.writeHead(status, own.length === 0 ? headers : [...headers, ...own])
  if (head) response.end()
  else response.end(body, BODY_ENCODING)
}

/** Whether a body is written as a copy, in the form of a string. */
function isCopied(bytes: Uint8Array): boolean {
  return bytes.byteLength <= STRING_BYTES_MAX
}

/** Body that a reply may share with answers to other callers; null for a short one, which is copied for each answer. */
export function sharedBodyOf(reply: Reply): Uint8Array | null {
  if (reply.is !== 'coded' && reply.is !== 'body') return null
  return typeof reply.body === 'string' || isCopied(reply.body) ? null : reply.body
}

async function respondFile(response: ServerResponse, terms: ReplyTerms, reply: Of<'file'>): Promise<void> {
  const { headers, isPublic } = keptHeaders(terms, reply, false)
  if (!isPublic) headers.push(...terms.allowance)
  headers.push('Content-Type', reply.type)
  if (reply.bytes !== null) headers.push('Content-Length', String(reply.bytes))
  response.writeHead(reply.status, headers)
  if (terms.head) {
    response.end()
    return
  }
  await pipeline(Readable.from(reply.chunks(), { objectMode: false, highWaterMark: 1 }), response)
}

type PlainReply = Readonly<{ status: number; headers: Readonly<Record<string, string>>; body?: Buffer }>

/** Writes a reply that no cache keeps for other callers. */
function respondPlain(
  response: ServerResponse,
  { common, allowance, head }: ReplyTerms,
  { status, headers, body }: PlainReply,
): undefined {
  response.writeHead(status, headerList([...common, ...allowance], headers)).end(head ? undefined : body)
}
