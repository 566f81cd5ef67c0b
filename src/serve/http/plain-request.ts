import type { IncomingMessage } from 'node:http'
import { HEADERS_MAX } from './request-form.ts'

/** Headers of a plain request that decide its answer. */
export type PlainRequest = Readonly<{
  ifNoneMatch: string | undefined
  accept: string | undefined
  acceptEncoding: string | undefined
  forwardedFor: string | undefined
}>

/**
 * Reads a request in one pass over its raw headers. Undefined unless it is a GET of HTTP/1.1 with one Host and no sign
 * of a body or of another protocol; the full checks then judge it.
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
  let forwardedFor: string | undefined
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? ''
    // The length tells most names apart, so few are compared letter by letter.
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
        } else if (is(name, 'x-forwarded-for')) {
          if (forwardedFor !== undefined) return undefined
          forwardedFor = rawHeaders[at + 1]
        }
        break
      case 17:
        if (is(name, 'transfer-encoding')) return undefined
        break
      default:
    }
  }
  return hosts === 1 ? { ifNoneMatch, accept, acceptEncoding, forwardedFor } : undefined
}

function is(name: string, lower: string): boolean {
  return name === lower || name.toLowerCase() === lower
}
