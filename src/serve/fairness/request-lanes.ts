import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Requests of one connection. The last of them is answered with `Connection: close`. */
export const REQUESTS_PER_CONNECTION_MAX = 1_000

/** Pipelined requests that one thread holds at most: about 60 MiB. */
const WAITING_MAX = 20_000

/** Runs the requests of each connection one at a time. */
export type RequestLanes = Readonly<{
  /** Begins the request, now or when the answer before it on the same connection is taken. */
  enter(request: IncomingMessage, response: ServerResponse): void
  /** Whether to stop reading a connection: enough of its requests wait, or it runs no more. */
  isFull(socket: Socket): boolean
  /** The answer in progress on a connection. */
  answering(socket: Socket): ServerResponse | undefined
  /**
   * Runs no further request of a connection, and closes it after its last pending answer. False if it has no pending
   * answer.
   */
  end(socket: Socket): boolean
}>

type RequestLaneSettings = Readonly<{
  waitingMax: number
  /** Called when fewer requests of a connection wait. */
  onTaken(socket: Socket): void
}>

/** Waiting requests of one connection at which its bytes are no longer read. */
const WAITING_OF_CONNECTION_MAX = 16

type Lane = {
  present: ServerResponse | undefined
  waiting: { request: IncomingMessage; response: ServerResponse }[]
  entered: number
  ended: boolean
}

/**
 * Opens the lanes of one thread. A pipelined request costs only memory before its turn: `begin` is called when the
 * answer before it has been passed to the kernel completely. Requests after the last answer never run.
 */
export function openRequestLanes(
  begin: (request: IncomingMessage, response: ServerResponse) => void,
  { waitingMax = WAITING_MAX, onTaken = () => undefined }: Partial<RequestLaneSettings> = {},
): RequestLanes {
  const lanes = new WeakMap<Socket, Lane>()
  let waiting = 0

  function run(lane: Lane, request: IncomingMessage, response: ServerResponse): void {
    lane.present = response
    response.once('close', () => leave(lane, request.socket))
    begin(request, response)
  }

  function leave(lane: Lane, socket: Socket): void {
    lane.present = undefined
    if (socket.destroyed || !socket.writable) {
      waiting -= lane.waiting.length
      lane.waiting = []
      return
    }
    const next = lane.waiting.shift()
    if (next !== undefined) {
      waiting -= 1
      run(lane, next.request, next.response)
    }
    onTaken(socket)
  }

  function end(socket: Socket): boolean {
    const lane = lanes.get(socket)
    const last = lane?.waiting.at(-1)?.response ?? lane?.present
    if (lane === undefined || last === undefined) return false
    // The parser reports broken syntax again with every further byte.
    if (!lane.ended) closeAfter(last, socket)
    lane.ended = true
    return true
  }

  return {
    enter(request, response) {
      const { socket } = request
      const lane = lanes.get(socket) ?? emptyLane()
      lanes.set(socket, lane)
      if (lane.ended) return
      lane.entered += 1
      if (lane.entered === REQUESTS_PER_CONNECTION_MAX) {
        lane.ended = true
        response.setHeader('Connection', 'close')
      }
      if (lane.present === undefined) {
        run(lane, request, response)
      } else if (waiting < waitingMax) {
        lane.waiting.push({ request, response })
        waiting += 1
      } else {
        socket.destroy()
      }
    },
    isFull(socket) {
      const lane = lanes.get(socket)
      return lane !== undefined && (lane.ended || lane.waiting.length >= WAITING_OF_CONNECTION_MAX)
    },
    answering: (socket) => lanes.get(socket)?.present,
    end,
  }
}

function emptyLane(): Lane {
  return { present: undefined, waiting: [], entered: 0, ended: false }
}

function closeAfter(last: ServerResponse, socket: Socket): void {
  if (!last.headersSent) last.setHeader('Connection', 'close')
  last.once('close', () => socket.destroySoon())
}
