import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ServerResponse } from 'node:http'
import { CODED_BYTES_MIN, compress, negotiate } from './coding.ts'
import { etagOf, names, weak } from './etag.ts'
import { CACHE_CONTROL } from './headers.ts'
import { formatProblem, statusOf } from './problem-document.ts'
import type { Reply } from './route.ts'

/** What of a request decides how its reply is written. */
export type Terms = Readonly<{
  head: boolean
  ifNoneMatch: string | undefined
  acceptEncoding: string | undefined
  problemBase: string
}>

type Of<Form extends Reply['is']> = Extract<Reply, { is: Form }>

/** Writes a reply, the headers common to all answers being set already. Settles when it has been handed over. */
export async function respond(response: ServerResponse, terms: Terms, reply: Reply): Promise<void> {
  switch (reply.is) {
    case 'body':
      return respondBody(response, terms, reply)
    case 'file':
      return respondFile(response, terms, reply)
    case 'unchanged':
      return respondUnchanged(response, reply)
    case 'problem':
      return respondProblem(response, terms, reply)
    case 'taken':
      return undefined
  }
}

async function respondBody(response: ServerResponse, terms: Terms, reply: Of<'body'>): Promise<void> {
  const plain = typeof reply.body === 'string' ? Buffer.from(reply.body) : reply.body
  const compressible = reply.compress !== false
  const coding =
    compressible && plain.byteLength >= CODED_BYTES_MIN ? negotiate(terms.acceptEncoding) : undefined
  // A strong ETag promises the same bytes: not of what is compressed, nor of what may be next time.
  const exact = reply.etag === 'of-content' ? coding === undefined : !compressible
  const etag = etagFor(reply.etag === 'of-content' ? etagOf(plain) : reply.etag, exact)
  if (etag !== null && names(terms.ifNoneMatch, etag)) {
    writeUnchanged(response, { ...reply, etag }, compressible)
    return
  }
  const body = coding === undefined ? plain : await compress(plain, coding)
  setKept(response, { ...reply, etag })
  if (compressible) response.setHeader('Vary', 'Accept-Encoding')
  if (coding !== undefined) response.setHeader('Content-Encoding', coding)
  response.setHeader('Content-Type', reply.type)
  response.setHeader('Content-Length', body.byteLength)
  response.writeHead(200)
  response.end(terms.head ? undefined : body)
}

async function respondFile(response: ServerResponse, terms: Terms, reply: Of<'file'>): Promise<void> {
  setKept(response, reply)
  response.setHeader('Content-Type', reply.type)
  if (reply.bytes !== null) response.setHeader('Content-Length', reply.bytes)
  response.writeHead(reply.status)
  if (terms.head) {
    response.end()
    return
  }
  await pipeline(Readable.from(reply.chunks(), { objectMode: false, highWaterMark: 1 }), response)
}

function respondUnchanged(response: ServerResponse, reply: Of<'unchanged'>): void {
  const compressible = reply.compress !== false
  writeUnchanged(response, { ...reply, etag: etagFor(reply.etag, !compressible) }, compressible)
}

function writeUnchanged(response: ServerResponse, kept: Keeping, compressible: boolean): void {
  setKept(response, kept)
  if (compressible) response.setHeader('Vary', 'Accept-Encoding')
  response.writeHead(304)
  response.end()
}

function respondProblem(response: ServerResponse, terms: Terms, reply: Of<'problem'>): void {
  const body = Buffer.from(formatProblem(reply.problem, terms.problemBase))
  setAll(response, reply.headers)
  if (reply.problem.retryAfterSeconds !== undefined) {
    response.setHeader('Retry-After', reply.problem.retryAfterSeconds)
  }
  response.setHeader('Cache-Control', CACHE_CONTROL['no-store'])
  response.setHeader('Content-Type', 'application/problem+json')
  response.setHeader('Content-Length', body.byteLength)
  response.writeHead(statusOf(reply.problem))
  response.end(terms.head ? undefined : body)
}

type Keeping = Pick<Of<'unchanged'>, 'keep' | 'headers' | 'etag'>

function etagFor(etag: string | null, exact: boolean): string | null {
  return etag === null || exact ? etag : weak(etag)
}

function setKept(response: ServerResponse, { keep, etag, headers }: Keeping): void {
  if (keep === 'immutable') {
    // What everyone may keep for ever says nothing about one caller.
    response.removeHeader('RateLimit')
    response.removeHeader('RateLimit-Policy')
  }
  response.setHeader('Cache-Control', CACHE_CONTROL[keep])
  if (etag !== null) response.setHeader('ETag', etag)
  setAll(response, headers)
}

function setAll(response: ServerResponse, headers: Readonly<Record<string, string>> = {}): void {
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
}
