import type { Server } from 'node:http'
import { Server as NetServer } from 'node:net'

/** Milliseconds between two looks for connections that have nothing under way any more. */
const SWEEP_MS = 50

/**
 * Stops a listener. It accepts no more at once; connections that are open are still answered until `quiet` settles,
 * so that whoever has one is told why; then those with nothing under way are closed. What is left after `drainMs` is
 * cut.
 */
export async function drainServer(
  server: Server,
  drainMs: number,
  quiet: Promise<void>,
  closeIdle: () => void,
): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    // The close of HTTP would cut idle connections before their next request could be answered.
    NetServer.prototype.close.call(server, () => resolve())
  })
  const limit = setTimeout(() => server.closeAllConnections(), drainMs)
  await Promise.race([quiet, closed])
  closeIdle()
  // A connection whose last answer began before the stop keeps alive once that is taken.
  const sweep = setInterval(closeIdle, SWEEP_MS)
  await closed
  clearInterval(sweep)
  clearTimeout(limit)
  // Nothing is left to close: this ends the checks for connections that are slow to ask.
  server.close()
}
