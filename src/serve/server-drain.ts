import type { Server } from 'node:http'
import { Server as NetServer } from 'node:net'

/** Milliseconds between two searches for idle connections. */
const SWEEP_MS = 50

/**
 * Stops a listener. It accepts no new connections. Open connections get answers until `quiet` settles, so that their
 * callers learn of the stop; then idle ones are closed. The rest is cut after `drainMs`: `closeAll` closes every
 * connection, also one that Node has detached from the HTTP server because its caller asked for a tunnel.
 */
export async function drainServer(
  server: Server,
  drainMs: number,
  quiet: Promise<void>,
  { closeIdle, closeAll }: Readonly<{ closeIdle(): void; closeAll(): void }>,
): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    // The close of the HTTP server would cut idle connections before their next request is answered.
    NetServer.prototype.close.call(server, () => resolve())
  })
  const limit = setTimeout(closeAll, drainMs)
  await Promise.race([quiet, closed])
  closeIdle()
  // A connection whose last answer began before the stop becomes idle when that answer is taken.
  const sweep = setInterval(closeIdle, SWEEP_MS)
  await closed
  clearInterval(sweep)
  clearTimeout(limit)
  // All connections are closed; this stops the timeout checks of the HTTP server.
  server.close()
}
