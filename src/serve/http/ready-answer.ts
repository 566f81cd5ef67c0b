import type { IncomingMessage, ServerResponse } from 'node:http'
import { negotiate } from './coding.ts'
import { names } from './etag.ts'
import { prefersCsv } from './accept.ts'
import { type PlainRequest, readPlainRequest } from './plain-request.ts'
import { BODY_ENCODING, type ReadyReplies, type ReadyReply } from './ready-replies.ts'
import { partsOf } from './request-form.ts'

/** A ready answer, and the headers of the request that decide how it is written. */
export type FoundReady = Readonly<{ plain: PlainRequest; reply: ReadyReply }>

/** Finds the ready answer of a request, in the coding that it prefers. */
export function findReady(ready: ReadyReplies, request: IncomingMessage): FoundReady | undefined {
  const forms = ready.get(partsOf(request.url ?? '').target)
  if (forms === undefined) return undefined
  const plain = readPlainRequest(request)
  // The first answer to a caller that prefers CSV is made anew: most of these are JSON.
  if (plain === undefined || prefersCsv(plain.accept)) return undefined
  const reply = forms.get('any') ?? forms.get(negotiate(plain.acceptEncoding) ?? 'identity')
  return reply === undefined ? undefined : { plain, reply }
}

/** Writes the answer, or a 304 in its place. */
export function writeReady(response: ServerResponse, { plain, reply }: FoundReady): void {
  if (reply.etag !== null && names(plain.ifNoneMatch, reply.etag)) {
    response.writeHead(304, reply.unchanged)
    response.end()
  } else {
    response.writeHead(200, reply.headers)
    response.end(reply.body, BODY_ENCODING)
  }
}
