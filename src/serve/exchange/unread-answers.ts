import type { ServerResponse } from 'node:http'

/** Bytes of written answers that one thread holds at most for callers that do not read them. */
export const UNREAD_BYTES_MAX: number = 256 * 1024 * 1024

/** Answers that are written and wait in memory for their callers to read them. */
export type UnreadAnswers = Readonly<{
  /** Watches a completely written answer. Costs nothing when the caller has already read it. */
  watch(response: ServerResponse): void
  /** Bytes held at present. */
  bytes(): number
}>

/**
 * Limits the memory of answers that callers do not read. Above the limit, the connections of the answers
 * that have waited longest are closed.
 */
export function openUnreadAnswers(
  bytesMax: number = UNREAD_BYTES_MAX,
  onCut: () => void = () => undefined,
): UnreadAnswers {
  // A Map keeps the order of insertion.
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
        // The connection, because an answer that waits behind another has no socket of its own yet.
        oldest.req.socket.destroy()
        onCut()
      }
    },
    bytes: () => held,
  }
}
