import type { IncomingMessage } from 'node:http'
import { TARGET_CHARS_MAX } from '../../protocol/parameters.ts'
import type { Problem } from '../../protocol/problem.ts'

/** Headers that a request may have; the parser silently drops further ones. */
export const HEADERS_MAX = 100

/** Verdict on a request's form: fit to be answered, or the reason to close its connection. */
type FormVerdict = 'fit' | 'too-many-headers' | 'unmet-expectation' | Problem

/** The only expectation of HTTP. A client of HTTP/1.0 has none. */
const CONTINUE = /^100-continue$/i

/**
 * Refuses requests that Node's parser accepts: other versions, missing or repeated hosts, bodies, proxy targets, too many
 * headers, other expectations.
 */
export function judgeForm(request: IncomingMessage): FormVerdict {
  if (request.rawHeaders.length >= HEADERS_MAX * 2) return 'too-many-headers'
  // The parser also takes requests without a version, as in HTTP/0.9, and with 2.0.
  if (request.httpVersion !== '1.1' && request.httpVersion !== '1.0')
    return { code: 'bad-request', detail: 'The request has an HTTP version other than 1.1 and 1.0.' }
  const hosts = request.rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === 'host').length
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

/** Problem of a target that is too long. */
export function judgeTarget({ url = '' }: IncomingMessage): Problem | undefined {
  if (url.length <= TARGET_CHARS_MAX) return undefined
  const detail = `The path and query have more than ${TARGET_CHARS_MAX} characters. Shorten the query.`
  return { code: 'uri-too-long', detail }
}

/** Whether a body follows or may follow; `Content-Length: 0` means none. */
export function hasBody(request: IncomingMessage): boolean {
  const length = request.headers['content-length']
  return request.headers['transfer-encoding'] !== undefined || (length !== undefined && !/^0+$/.test(length))
}

/** Place of an empty pair in a query, as in `&a=1`, `a=1&&b=2` and `a=1&`. */
const EMPTY_PAIR = /^&|&&|&$/

/**
 * Path and raw query of a target; the query is empty if there is none. Empty pairs are left out, as WHATWG's parser of
 * queries skips them. `target` is both together, the name of the answer in caches.
 */
export function partsOf(target: string): Readonly<{ target: string; path: string; rawQuery: string }> {
  const mark = target.indexOf('?')
  if (mark < 0) return { target, path: target, rawQuery: '' }
  const path = target.slice(0, mark)
  const given = target.slice(mark + 1)
  if (given !== '' && !EMPTY_PAIR.test(given)) return { target, path, rawQuery: given }
  const pairs = given.split('&').filter((pair) => pair !== '')
  const rawQuery = pairs.join('&')
  return { target: rawQuery === '' ? path : `${path}?${rawQuery}`, path, rawQuery }
}
