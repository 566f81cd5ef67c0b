import type { Server } from 'node:http'
import type { Socket } from 'node:net'

/** Connections of a listener that is never full. */
export type CrowdedConnections = Readonly<{
  /** Ends other connections before this one until the returned function is called: its answer is being made. */
  hold(socket: Socket): () => void
}>

/**
 * Makes room for each new connection of a server: beyond `max`, the oldest one that is not held is ended, or the oldest of
 * all when every one is held. A listener that refuses new ones instead could be kept full with idle connections, with
 * bodies that never end, and with requests that wait for their turn. `onEnded` is called for each connection that is
 * ended so.
 */
export function endOldConnections(server: Server, max: number, onEnded: () => void): CrowdedConnections {
  const open = new Set<Socket>()
  const held = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    if (open.size >= max) {
      const oldest = open.values().find((one) => !held.has(one)) ?? [...open][0]
      if (oldest !== undefined) open.delete(oldest)
      oldest?.destroy()
      onEnded()
    }
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
  return {
    hold(socket) {
      held.add(socket)
      return () => void held.delete(socket)
    },
  }
}
