import type { IncomingMessage } from 'node:http'
import { TARGET_CHARS_MAX } from '../../protocol/parameters.ts'
import type { Problem } from '../../protocol/problem.ts'

/** Most headers of a request. The parser silently drops further ones. */
export const HEADERS_MAX = 100

/** Verdict on a request's form: fit, or the reason to close its connection. */
type FormVerdict = 'fit' | 'too-many-headers' | 'unmet-expectation' | Problem

/** The only expectation that HTTP defines. A client of HTTP/1.0 has none. */
const CONTINUE = /^100-continue$/i

/**
 * Refuses requests that Node's parser accepts: other versions, missing or repeated hosts, bodies, proxy targets, too
 * many headers, other expectations.
 */
export function judgeForm(request: IncomingMessage): FormVerdict {
  if (request.rawHeaders.length >= HEADERS_MAX * 2) return 'too-many-headers'
  // The parser also accepts version 2.0, and requests without a version, as in HTTP/0.9.
  if (request.httpVersion !== '1.1' && request.httpVersion !== '1.0')
    return { code: 'bad-request', detail: 'The request has an HTTP version other than 1.1 and 1.0.' }
  let hosts = 0
  for (let at = 0; at < request.rawHeaders.length; at += 2)
    if (is(request.rawHeaders[at] ?? '', 'host')) hosts += 1
  // Checked here because the parser's own answer has no CORS headers.
  if (hosts > 1 || (hosts === 0 && request.httpVersion !== '1.0')) {
    return { code: 'bad-request', detail: 'The request needs exactly one Host header.' }
  }
  const { expect } = request.headers
  if (expect !== undefined && request.httpVersion !== '1.0' && !CONTINUE.test(expect))
    return 'unmet-expectation'
  if (hasBody(request)) return { code: 'bad-request', detail: 'The request has a body. Send it without one.' }
  const target = request.url ?? ''
  const wholeServer = target === '*' && request.method === 'OPTIONS'
  if (!target.startsWith('/') && !wholeServer) {
    return { code: 'bad-request', detail: 'The path of the request does not begin with a slash.' }
  }
  return 'fit'
}

/** Whether a body follows or may follow; `Content-Length: 0` means none. */
export function hasBody(request: IncomingMessage): boolean {
  const length = request.headers['content-length']
  return request.headers['transfer-encoding'] !== undefined || (length !== undefined && !/^0+$/.test(length))
}

/** Position of an empty pair in a query, as in `&a=1`, `a=1&&b=2` and `a=1&`. */
const EMPTY_PAIR = /^&|&&|&$/

/** Path and raw query of a target. `target` has both, and is the answer's name in caches. */
export type TargetParts = Readonly<{ target: string; path: string; rawQuery: string }>

/**
 * Parts of a target, with an empty query if there is none. Empty pairs are removed, as WHATWG's query parser skips
 * them.
 */
export function partsOf(target: string): TargetParts {
  const mark = target.indexOf('?')
  if (mark < 0) return { target, path: target, rawQuery: '' }
  const path = target.slice(0, mark)
  const given = target.slice(mark + 1)
  if (given !== '' && !EMPTY_PAIR.test(given)) return { target, path, rawQuery: given }
  const pairs = given.split('&').filter((pair) => pair !== '')
  const rawQuery = pairs.join('&')
  return { target: rawQuery === '' ? path : `${path}?${rawQuery}`, path, rawQuery }
}

/** Headers of a plain request that decide its answer. */
type PlainRequest = Readonly<{
  ifNoneMatch: string | undefined
  accept: string | undefined
  acceptEncoding: string | undefined
}>

/**
 * Reads a plain request in one pass over its raw headers: a GET of HTTP/1.1 with one Host and no sign of a body or
 * another protocol. Undefined for any other, which the full checks judge.
 */
export function readPlainRequest({
  method,
  httpVersionMinor,
  rawHeaders,
}: IncomingMessage): PlainRequest | undefined {
  if (method !== 'GET' || httpVersionMinor !== 1 || rawHeaders.length >= HEADERS_MAX * 2) return undefined
  let hosts = 0
  let ifNoneMatch: string | undefined
  let accept: string | undefined
  let acceptEncoding: string | undefined
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? ''
    // The length distinguishes most names, so few are compared letter by letter.
    switch (name.length) {
      case 4:
        if (is(name, 'host')) hosts += 1
        break
      case 6:
        if (is(name, 'expect')) return undefined
        if (is(name, 'accept')) {
          if (accept !== undefined) return undefined
          accept = rawHeaders[at + 1]
        }
        break
      case 7:
        if (is(name, 'upgrade')) return undefined
        break
      case 8:
        // Such conditions are rare, and come before `If-None-Match`.
        if (is(name, 'if-match')) return undefined
        break
      case 13:
        if (is(name, 'if-none-match')) {
          if (ifNoneMatch !== undefined) return undefined
          ifNoneMatch = rawHeaders[at + 1]
        }
        break
      case 14:
        if (is(name, 'content-length')) return undefined
        break
      case 15:
        if (is(name, 'accept-encoding')) {
          if (acceptEncoding !== undefined) return undefined
          acceptEncoding = rawHeaders[at + 1]
        }
        break
      case 17:
        if (is(name, 'transfer-encoding')) return undefined
        break
      default:
    }
  }
  return hosts === 1 ? { ifNoneMatch, accept, acceptEncoding } : undefined
}

function is(name: string, lower: string): boolean {
  return name === lower || name.toLowerCase() === lower
}

const REQUEST_LINE = /^[A-Z]+ (\S+)/

/**
 * Whether the target made a request too long for the parser. `packet` is the last packet, and `parsed` the number of
 * its bytes that the parser took. `pastTarget` says whether the target ended in an earlier packet.
 */
export function isTargetTooLong(
  packet: Uint8Array | undefined,
  parsed: number,
  pastTarget: boolean,
): boolean {
  if (packet === undefined) return false
  const text = Buffer.from(packet).toString('latin1')
  const lines = text.slice(0, parsed).split('\n')
  const line = lines.findLast((each) => REQUEST_LINE.test(each))
  if (line !== undefined) return (REQUEST_LINE.exec(line)?.[1] ?? '').length > TARGET_CHARS_MAX
  if (pastTarget) return false
  // The request began in an earlier packet. Its target has no blank and no line end, and the HTTP version follows it.
  const rest = text.slice(parsed)
  return (
    lines.length === 1 && !text.slice(0, parsed).includes(' ') && (rest === '' || rest.startsWith(' HTTP/'))
  )
}
