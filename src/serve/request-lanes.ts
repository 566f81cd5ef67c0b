import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Requests of one connection. The last of them is answered with `Connection: close`. */
export const REQUESTS_PER_CONNECTION_MAX = 1_000

/** Pipelined requests that one thread holds at most: some 60 MiB. */
const WAITING_MAX = 20_000

/** Runs the requests of each connection one at a time. */
export type RequestLanes = Readonly<{
  /** Begins the request, now or when the answer before it on the same connection has been taken. */
  enter(request: IncomingMessage, response: ServerResponse): void
  /** Requests of a connection that wait. */
  waiting(socket: Socket): number
  /** The answer that is being given on a connection. */
  answering(socket: Socket): ServerResponse | undefined
  /** The last answer that a connection will get as far as it has asked. */
  last(socket: Socket): ServerResponse | undefined
}>

export type RequestLaneSettings = Readonly<{
  waitingMax: number
  /** Told that fewer requests of a connection wait. */
  onTaken(socket: Socket): void
}>

type Lane = {
  present: ServerResponse | undefined
  waiting: { request: IncomingMessage; response: ServerResponse }[]
  entered: number
}

/**
 * Opens the lanes of one thread. A pipelined request costs nothing but its memory before its turn: `begin` is called
 * when the former answer has been handed to the system whole. What stands behind a last answer is never run.
 */
export function openRequestLanes(
  begin: (request: IncomingMessage, response: ServerResponse) => void,
  { waitingMax = WAITING_MAX, onTaken = () => undefined }: Partial<RequestLaneSettings> = {},
): RequestLanes {
  const lanes = new WeakMap<Socket, Lane>()
  let waiting = 0

  function open(socket: Socket): Lane {
    const lane: Lane = { present: undefined, waiting: [], entered: 0 }
    lanes.set(socket, lane)
    return lane
  }

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

  return {
    enter(request, response) {
      const { socket } = request
      const lane = lanes.get(socket) ?? open(socket)
      lane.entered += 1
      if (lane.entered > REQUESTS_PER_CONNECTION_MAX) {
        // Nothing more is run on this connection, so nothing more is read.
        socket.pause()
        return
      }
      if (lane.entered === REQUESTS_PER_CONNECTION_MAX) response.setHeader('Connection', 'close')
      if (lane.present === undefined) {
        run(lane, request, response)
      } else if (waiting < waitingMax) {
        lane.waiting.push({ request, response })
        waiting += 1
      } else {
        socket.destroy()
      }
    },
    waiting: (socket) => lanes.get(socket)?.waiting.length ?? 0,
    answering: (socket) => lanes.get(socket)?.present,
    last(socket) {
      const lane = lanes.get(socket)
      return lane?.waiting.at(-1)?.response ?? lane?.present
    },
  }
}
