import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import {
  closeListener,
  type CrowdedConnections,
  endOldConnections,
  readBody,
} from '../../publish/api/listener-limits.ts'
import { assert } from '../../protocol/brand.ts'
import { type Cosigner, originHashOf } from './cosigner.ts'
import type { CosignerAnswer } from './cosigner-answer.ts'
import { SUBMISSION_BYTES_MAX } from './submission.ts'
import { formatAt, msOf } from '../../protocol/moment.ts'
import { formatVkey } from '../../tlog/note.ts'

/** Timeouts in milliseconds for a caller's headers, and for its whole request. */
export const WITNESS_HEADERS_MS = 5_000
export const WITNESS_REQUEST_MS = 10_000
/** Milliseconds before an idle connection is closed. It is longer than a proxy's, so that the proxy closes first. */
export const WITNESS_IDLE_MS = 65_000
/** Most connections of the listener. A further one ends the oldest whose caller is not waiting for a cosignature. */
export const WITNESS_CONNECTIONS_MAX = 256
/** Most bytes of the headers of a request. */
export const WITNESS_HEADER_BYTES_MAX = 8_192
/** Milliseconds that requests in progress get at a stop. */
export const WITNESS_DRAIN_MS = 5_000

type WitnessListenerSettings = Readonly<{
  host: string
  port: number
  cosigner: Cosigner
  /** Called for each answer to `add-checkpoint` that the cosigner gave. */
  onAnswered(answer: CosignerAnswer): void
  /** Called when a connection is ended to make room for another. */
  onCrowded(): void
  /** Called when an error prevented an answer. */
  onFailure(error: unknown): void
}>

/**
 * Starts the public listener of a witness (C2SP tlog-witness): `POST /add-checkpoint`, and for readers `/<SHA-256 of
 * the origin>/checkpoint` and a page about the witness. Disposal answers the requests in progress.
 */
export async function openWitnessListener(
  settings: WitnessListenerSettings,
): Promise<AsyncDisposable & Readonly<{ port: number }>> {
  const server: Server = createServer(
    {
      headersTimeout: WITNESS_HEADERS_MS,
      requestTimeout: WITNESS_REQUEST_MS,
      connectionsCheckingInterval: 1_000,
      keepAliveTimeout: WITNESS_IDLE_MS,
      maxHeaderSize: WITNESS_HEADER_BYTES_MAX,
    },
    (request, response) => {
      if (!server.listening) response.setHeader('connection', 'close')
      answer(settings, request, response, connections).catch((error: unknown) => {
        // A caller that disconnects while it sends is no error of the witness.
        if (request.errored !== null || response.headersSent) return void response.destroy()
        settings.onFailure(error)
        return plain(response, 500, 'the request could not be answered')
      })
    },
  )
  const connections = endOldConnections(server, WITNESS_CONNECTIONS_MAX, settings.onCrowded)
  server.listen(settings.port, settings.host)
  await once(server, 'listening')
  const address = server.address()
  assert(typeof address === 'object' && address !== null, 'the listener of a witness has a port')
  return {
    port: address.port,
    [Symbol.asyncDispose]: () => closeListener(server, WITNESS_DRAIN_MS),
  }
}

const CHECKPOINT_PATH = /^\/([0-9a-f]{64})\/checkpoint$/

async function answer(
  { cosigner, onAnswered }: WitnessListenerSettings,
  request: IncomingMessage,
  response: ServerResponse,
  connections: CrowdedConnections,
): Promise<void> {
  const path = request.url ?? ''
  if (path === '/add-checkpoint') {
    if (request.method !== 'POST') return notAllowed(response, 'POST')
    if (request.headers['content-encoding'] !== undefined)
      return plain(response, 415, 'a request has no content encoding')
    const { end, bytes } = await readBody(request, SUBMISSION_BYTES_MAX)
    if (end !== 'whole') {
      response.setHeader('connection', 'close')
      return plain(response, 413, `the request has more than ${SUBMISSION_BYTES_MAX} bytes`)
    }
    using _held = connections.hold(request.socket)
    const given = await cosigner.add(bytes)
    onAnswered(given)
    return send(response, given)
  }
  const [, originHash] = CHECKPOINT_PATH.exec(path) ?? []
  if (originHash === undefined && path !== '/')
    return plain(response, 404, 'nothing is at this address; / says what this witness answers')
  if (request.method !== 'GET' && request.method !== 'HEAD') return notAllowed(response, 'GET, HEAD')
  // Public and the same for everyone, so a page of any site may read it.
  response.setHeader('access-control-allow-origin', '*')
  if (originHash === undefined) return plain(response, 200, witnessPage(cosigner))
  const note = cosigner.noteOf(originHash)
  if (note === undefined) return plain(response, 404, 'this witness has cosigned no checkpoint of this log')
  return plain(response, 200, note)
}

function notAllowed(response: ServerResponse, allow: string): void {
  response.setHeader('allow', allow)
  plain(response, 405, `this address takes ${allow} only`)
}

function plain(response: ServerResponse, status: number, text: string): void {
  const body = text.endsWith('\n') ? text : `${text}\n`
  send(response, { status, body, contentType: 'text/plain; charset=utf-8', retryAfterSeconds: null })
}

type Sent = Pick<CosignerAnswer, 'body' | 'contentType' | 'retryAfterSeconds'> & Readonly<{ status: number }>

function send(response: ServerResponse, { status, body, contentType, retryAfterSeconds }: Sent): void {
  if (retryAfterSeconds !== null) response.setHeader('retry-after', retryAfterSeconds)
  response.writeHead(status, {
    'content-type': contentType,
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  })
  response.end(body)
}

/** Page of a witness as plain text: its name and keys, the logs with their sizes, and how to use it. */
function witnessPage({ name, verifiers, sizes }: Pick<Cosigner, 'name' | 'verifiers' | 'sizes'>): string {
  const logs = sizes().map(({ origin, size, time }) => {
    const seen =
      size === null || time === null
        ? 'nothing cosigned yet'
        : `size ${size}, cosigned ${formatAt(msOf(time * 1_000))}`
    return `${origin}\n  ${seen}\n  /${originHashOf(origin)}/checkpoint`
  })
  return `${name} is a witness of transparency logs.

It cosigns a checkpoint only if it continues the one that it cosigned before, so that
nobody can show two histories of a log with its cosignatures.

Verifier keys (vkeys). Compare them with those that its operator has published elsewhere:

${verifiers.map(formatVkey).join('\n')}

Logs:

${logs.join('\n')}

Operators of these logs send checkpoints to /add-checkpoint, as https://c2sp.org/tlog-witness
says. A Daybook does so with --witness VKEY=URL: a vkey above, and the address of this page.
`
}
