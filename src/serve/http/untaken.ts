import type { ServerResponse } from 'node:http'

/** Bytes of answers that one thread holds at most because their callers do not take them. */
export const UNTAKEN_BYTES_MAX: number = 256 * 1024 * 1024

/** The answers that are written and wait in memory for their callers to take them. */
export type Untaken = Readonly<{
  /** Notes an answer that was handed over whole; one that its caller has taken already costs nothing. */
  watch(response: ServerResponse): void
  /** Bytes held at present. */
  bytes(): number
}>

/**
 * Bounds what callers can make this thread hold by asking and not reading. When it is too much, the answers
 * that have waited longest are given up, and their connections with them.
 */
export function openUntaken(bytesMax: number = UNTAKEN_BYTES_MAX): Untaken {
  // In the order of their handing over: a Map keeps it.
  const waiting = new Map<ServerResponse, number>()
  let held = 0

  function release(response: ServerResponse): void {
    held -= waiting.get(response) ?? 0
    waiting.delete(response)
  }

  return {
    watch(response) {
      const bytes = response.writableLength
      if (bytes === 0 || response.destroyed) return
      waiting.set(response, bytes)
      held += bytes
      response.once('close', () => release(response))
      for (const oldest of waiting.keys()) {
        if (held <= bytesMax) break
        release(oldest)
        // The connection, not the answer alone: one that waits behind another has no socket yet to be freed with.
        oldest.req.socket.destroy()
      }
    },
    bytes: () => held,
  }
}
