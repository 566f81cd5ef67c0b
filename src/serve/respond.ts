import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ServerResponse } from 'node:http'
import { CODED_BYTES_MIN, compress, negotiate } from './coding.ts'
import { etagOf, names, weak } from './etag.ts'
import type { HeaderList } from './headers.ts'
import { CACHE_CONTROL, headerList } from './headers.ts'
import { formatProblem, statusOf } from './problem-document.ts'
import type { FormOf, ReadyReply } from './ready-replies.ts'
import { BODY_ENCODING, bodyOf } from './ready-replies.ts'
import type { Reply } from './route.ts'

/** What of a request decides how its reply is written. */
export type Terms = Readonly<{
  head: boolean
  ifNoneMatch: string | undefined
  acceptEncoding: string | undefined
  problemBase: string
  /** The headers common to all answers. */
  common: HeaderList
  /** Those that tell a caller of its allowance: not for what everyone may keep for ever. */
  allowance: HeaderList
  /** Told an answer that never changes as it is written, so that it need not be made again. */
  remember?: (form: FormOf, reply: Omit<ReadyReply, 'tally'>) => void
}>

type Of<Form extends Reply['is']> = Extract<Reply, { is: Form }>

/** Writes a reply whole, or begins to. Settles when it has been handed over. */
export async function respond(response: ServerResponse, terms: Terms, reply: Reply): Promise<void> {
  switch (reply.is) {
    case 'body':
      return respondBody(response, terms, reply)
    case 'file':
      return respondFile(response, terms, reply)
    case 'elsewhere':
      return respondElsewhere(response, terms, reply)
    case 'unchanged':
      return respondUnchanged(response, terms, reply)
    case 'problem':
      return respondProblem(response, terms, reply)
    case 'taken':
      return undefined
  }
}

async function respondBody(response: ServerResponse, terms: Terms, reply: Of<'body'>): Promise<void> {
  const plain = typeof reply.body === 'string' ? Buffer.from(reply.body) : reply.body
  const compressible = reply.compress !== false
  const codable = compressible && plain.byteLength >= CODED_BYTES_MIN
  const coding = codable ? negotiate(terms.acceptEncoding) : undefined
  // A strong ETag promises the same bytes: not of what is compressed, nor of what may be next time.
  const exact = reply.etag === 'of-content' ? coding === undefined : !compressible
  const etag = etagFor(reply.etag === 'of-content' ? etagOf(plain) : reply.etag, exact)
  const unchanged = keptHeaders(terms, { ...reply, etag }, compressible)
  if (etag !== null && names(terms.ifNoneMatch, etag)) {
    response.writeHead(304, unchanged)
    response.end()
    return
  }
  const bytes = coding === undefined ? plain : await compress(plain, coding)
  const body = bodyOf(bytes)
  const headers = [...unchanged]
  if (coding !== undefined) headers.push('Content-Encoding', coding)
  headers.push('Content-Type', reply.type, 'Content-Length', String(bytes.byteLength))
  if (reply.keep === 'immutable' && terms.remember !== undefined) {
    terms.remember(codable ? (coding ?? 'identity') : 'any', { etag, headers, unchanged, body })
  }
  response.writeHead(reply.status ?? 200, headers)
  if (terms.head) response.end()
  else response.end(body, BODY_ENCODING)
}

async function respondFile(response: ServerResponse, terms: Terms, reply: Of<'file'>): Promise<void> {
  const headers = keptHeaders(terms, reply, false)
  headers.push('Content-Type', reply.type)
  if (reply.bytes !== null) headers.push('Content-Length', String(reply.bytes))
  response.writeHead(reply.status, headers)
  if (terms.head) {
    response.end()
    return
  }
  await pipeline(Readable.from(reply.chunks(), { objectMode: false, highWaterMark: 1 }), response)
}

function respondElsewhere(response: ServerResponse, terms: Terms, reply: Of<'elsewhere'>): void {
  const keep = reply.status === 308 ? 'revalidate' : 'no-store'
  const further = { Location: reply.location, 'Cache-Control': CACHE_CONTROL[keep], 'Content-Length': '0' }
  response.writeHead(reply.status, headerList([...terms.common, ...terms.allowance], further))
  response.end()
}

function respondUnchanged(response: ServerResponse, terms: Terms, reply: Of<'unchanged'>): void {
  const compressible = reply.compress !== false
  const etag = etagFor(reply.etag, !compressible)
  response.writeHead(304, keptHeaders(terms, { ...reply, etag }, compressible))
  response.end()
}

function respondProblem(response: ServerResponse, terms: Terms, reply: Of<'problem'>): void {
  const body = Buffer.from(formatProblem(reply.problem, terms.problemBase))
  const { retryAfterSeconds } = reply.problem
  const headers = headerList([...terms.common, ...terms.allowance], {
    ...reply.headers,
    ...(retryAfterSeconds === undefined ? {} : { 'Retry-After': String(retryAfterSeconds) }),
    'Cache-Control': CACHE_CONTROL['no-store'],
    'Content-Type': 'application/problem+json',
    'Content-Length': String(body.byteLength),
  })
  response.writeHead(statusOf(reply.problem), headers)
  response.end(terms.head ? undefined : body)
}

type Keeping = Pick<Of<'unchanged'>, 'keep' | 'headers' | 'etag'>

function etagFor(etag: string | null, exact: boolean): string | null {
  return etag === null || exact ? etag : weak(etag)
}

/** The headers that a 304 has, and the 200 in its place too. */
function keptHeaders(terms: Terms, { keep, etag, headers }: Keeping, compressible: boolean): string[] {
  const list = keep === 'immutable' ? [...terms.common] : [...terms.common, ...terms.allowance]
  list.push('Cache-Control', CACHE_CONTROL[keep])
  if (etag !== null) list.push('ETag', etag)
  const all = headers === undefined ? list : headerList(list, headers)
  if (compressible) all.push('Vary', 'Accept-Encoding')
  return all
}
