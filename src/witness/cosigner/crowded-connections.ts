import type { Server } from 'node:http'
import type { Socket } from 'node:net'

/** Connections of a listener that is never full. */
export type CrowdedConnections = Readonly<{
  /** Keeps the connection until the returned function is called, which must be soon: its answer is being made. */
  hold(socket: Socket): () => void
}>

/**
 * Makes room for each new connection of a server: beyond `max`, the oldest one that is not held is ended. A listener that
 * refuses new ones instead could be kept full with idle connections and bodies that never end.
 */
export function endOldConnections(server: Server, max: number): CrowdedConnections {
  const open = new Set<Socket>()
  const held = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
    if (open.size <= max) return
    const oldest = open.values().find((one) => !held.has(one)) ?? socket
    open.delete(oldest)
    oldest.destroy()
  })
  return {
    hold(socket) {
      held.add(socket)
      return () => void held.delete(socket)
    },
  }
}
