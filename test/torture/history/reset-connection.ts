import type { Socket } from 'node:net'

/**
 * Resets a connection. One whose client has ended it already is destroyed instead: Node leaks a socket that is reset while
 * its end is being sent. It never emits `close`, and its process never exits.
 */
export function resetConnection(socket: Socket): void {
  if (socket.writableEnded) socket.destroy()
  else socket.resetAndDestroy()
}
