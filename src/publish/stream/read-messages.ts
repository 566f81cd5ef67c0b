import type { EngineConnection, EngineMessage } from '../../engine/log-engine.ts'

/** Time after which a replica that lacks a message is asked for it again, in milliseconds. */
export const ASK_AGAIN_MS = 1_000

/** Bytes of a question for one message: at least one is read. */
export const ONE_MESSAGE_BYTES = 1

/**
 * Reads messages from a place that is known to have one, up to `bytesMax`. Waits for a replica that lags. Rejects with
 * the signal's reason when it is aborted, and with an `EngineError` when the engine cannot be read.
 */
export async function readMessages(
  { log }: EngineConnection,
  from: number,
  bytesMax: number,
  signal: AbortSignal,
): Promise<readonly EngineMessage[]> {
  for (;;) {
    signal.throwIfAborted()
    const messages = await log.read(from, bytesMax)
    if (messages.length > 0) return messages
    await log.wait(from, ASK_AGAIN_MS)
  }
}
