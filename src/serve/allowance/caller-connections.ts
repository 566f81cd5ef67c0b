import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { CallerSlots } from './caller-slots.ts'
import type { LogIdentity } from '../../log/store/reader.ts'
import { commonHeaders } from '../http/headers.ts'
import { formatProblem, type RequestIds } from '../http/problem-document.ts'

/** Counts the open connections of each address. */
export type ConnectionCount = Readonly<{
  slots: CallerSlots
  /** Address that a connection counts for; null for a trusted proxy. */
  addressOf(socket: Socket): string | null
}>

/** Parts of the answer to a connection over the limit. */
type ConnectionRefusal = Readonly<{
  identity: LogIdentity
  mirrorOf: string | null
  problemBase: string
  requestIds: RequestIds
}>

/** Most connections over the limit that wait for their refusal. Further ones are closed immediately. */
const REFUSALS_MAX = 256

/**
 * Limits the connections of each address. A connection over the limit gets 429 for its first request, and is closed.
 * The returned function says whether it has answered a request this way.
 */
export function openCallerConnections(
  server: Server,
  count: ConnectionCount | null,
  { identity, mirrorOf, problemBase, requestIds }: ConnectionRefusal,
): (request: IncomingMessage, response: ServerResponse) => boolean {
  if (count === null) return () => false
  const { slots, addressOf } = count
  const over = new WeakSet<Socket>()
  let refusals = 0
  const body = formatProblem(
    {
      code: 'too-many-connections',
      detail: `This address has ${slots.limits.perCaller} open connections, its limit. Reuse one of them.`,
    },
    problemBase,
  )
  const headers = {
    ...commonHeaders(identity, mirrorOf),
    'Cache-Control': 'no-store',
    'Content-Type': 'application/problem+json',
    'Content-Length': Buffer.byteLength(body),
    Connection: 'close',
  }

  server.on('connection', (socket: Socket) => {
    const address = addressOf(socket)
    if (address === null) return
    const taken = slots.take(address)
    if (taken.ok) {
      socket.once('close', taken.slot.release)
    } else if (refusals < REFUSALS_MAX) {
      refusals += 1
      over.add(socket)
      socket.once('close', () => (refusals -= 1))
    } else {
      socket.destroy()
    }
  })
  return (request, response) => {
    if (!over.has(request.socket)) return false
    const id = requestIds.format(requestIds.next())
    response
      .writeHead(429, { ...headers, 'Daybook-Request': id })
      .end(request.method === 'HEAD' ? undefined : body)
    return true
  }
}
