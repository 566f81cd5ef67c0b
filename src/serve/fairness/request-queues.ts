import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Most requests of one connection. The last of them is answered with `Connection: close`. */
export const REQUESTS_PER_CONNECTION_MAX = 1_000

/** Most bytes of pipelined requests in one thread's memory: 20,000 short ones, or 2,700 with 8 KiB of headers. */
const WAITING_BYTES_MAX = 64 * 1024 * 1024

/** Bytes of a request and its response in Node 26, besides the characters of its target and headers. */
const REQUEST_BYTES = 3 * 1024
/** Bytes of a header besides its characters. */
const HEADER_BYTES = 128
/** Bytes of a body that Node buffers until somebody reads it. */
const BODY_BYTES = 64 * 1024

/** Runs the requests of each connection one at a time. */
export type RequestQueues = Readonly<{
  /** Begins the request, now or when the previous answer on the same connection is taken. */
  enter(request: IncomingMessage, response: ServerResponse): void
  /** Whether to stop reading a connection: enough of its requests wait, or no more will run. */
  isFull(socket: Socket): boolean
  /** The answer in progress on a connection. */
  answering(socket: Socket): ServerResponse | undefined
  /**
   * Runs no further request of a connection, and closes it after its last pending answer. False if it has no pending
   * answer.
   */
  end(socket: Socket): boolean
}>

type RequestQueueSettings = Readonly<{
  waitingBytesMax: number
  /** Called when fewer requests of a connection wait. */
  onTaken(socket: Socket): void
}>

/** Waiting requests of one connection at which its bytes are no longer read. */
const WAITING_OF_CONNECTION_MAX = 16

type Queue = {
  present: ServerResponse | undefined
  waiting: { request: IncomingMessage; response: ServerResponse; bytes: number }[]
  entered: number
  ended: boolean
}

/**
 * Opens the queues of one thread. A pipelined request costs only memory before its turn. `begin` is called when the
 * previous answer has been passed to the kernel completely. Requests after the last answer never run.
 */
export function openRequestQueues(
  begin: (request: IncomingMessage, response: ServerResponse) => void,
  { waitingBytesMax = WAITING_BYTES_MAX, onTaken = () => undefined }: Partial<RequestQueueSettings> = {},
): RequestQueues {
  const queues = new WeakMap<Socket, Queue>()
  let waitingBytes = 0

  function run(queue: Queue, request: IncomingMessage, response: ServerResponse): void {
    queue.present = response
    response.once('close', () => leave(queue, request.socket))
    begin(request, response)
  }

  function leave(queue: Queue, socket: Socket): void {
    queue.present = undefined
    if (socket.destroyed || !socket.writable) {
      for (const { bytes } of queue.waiting) waitingBytes -= bytes
      queue.waiting = []
      return
    }
    const next = queue.waiting.shift()
    if (next !== undefined) {
      waitingBytes -= next.bytes
      run(queue, next.request, next.response)
    }
    onTaken(socket)
  }

  function end(socket: Socket): boolean {
    const queue = queues.get(socket)
    const last = queue?.waiting.at(-1)?.response ?? queue?.present
    if (queue === undefined || last === undefined) return false
    // The parser reports broken syntax again with every further byte.
    if (!queue.ended) closeAfter(last, socket)
    queue.ended = true
    return true
  }

  return {
    enter(request, response) {
      const { socket } = request
      const queue = queues.get(socket) ?? emptyQueue()
      queues.set(socket, queue)
      if (queue.ended) return
      queue.entered += 1
      if (queue.entered === REQUESTS_PER_CONNECTION_MAX) {
        queue.ended = true
        response.setHeader('Connection', 'close')
      }
      if (queue.present === undefined) {
        run(queue, request, response)
        return
      }
      const bytes = bytesOf(request)
      if (waitingBytes + bytes > waitingBytesMax) {
        socket.destroy()
        return
      }
      queue.waiting.push({ request, response, bytes })
      waitingBytes += bytes
    },
    isFull(socket) {
      const queue = queues.get(socket)
      return queue !== undefined && (queue.ended || queue.waiting.length >= WAITING_OF_CONNECTION_MAX)
    },
    answering: (socket) => queues.get(socket)?.present,
    end,
  }
}

function emptyQueue(): Queue {
  return { present: undefined, waiting: [], entered: 0, ended: false }
}

/** Most bytes of memory that a waiting request takes. */
function bytesOf({ url = '', rawHeaders }: IncomingMessage): number {
  let bytes = REQUEST_BYTES + url.length
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? ''
    bytes += HEADER_BYTES + name.length + (rawHeaders[at + 1] ?? '').length
    if (BODY.test(name)) bytes += BODY_BYTES
  }
  return bytes
}

/**
 * Names of headers that announce a body. They are searched in the raw headers, because `request.headers` would take
 * more memory.
 */
const BODY = /^(?:content-length|transfer-encoding)$/i

function closeAfter(last: ServerResponse, socket: Socket): void {
  if (!last.headersSent) last.setHeader('Connection', 'close')
  last.once('close', () => socket.destroySoon())
}
