import type { EngineConnection } from '../../engine/log-engine.ts'
import { EngineError } from '../../engine/log-engine.ts'

/** Bytes of a question for one message: at least one is read. */
const ONE_MESSAGE_BYTES = 1
/** Time after which a place whose owner is unknown is asked about again. */
const ASK_AGAIN_MS = 1_000

/**
 * Offers the same bytes at the same place until the message at that place has been read. Returns the bytes of that
 * message, which may be those of another writer. Rejects with the signal's reason when it is aborted.
 */
export async function settleAppend(
  { log }: EngineConnection,
  place: number,
  bytes: Uint8Array,
  signal: AbortSignal,
): Promise<Uint8Array> {
  for (;;) {
    signal.throwIfAborted()
    if ((await log.append(place, bytes)) === 'appended') return bytes
    try {
      const [owner] = (await log.last()) < place ? [] : await log.read(place, ONE_MESSAGE_BYTES)
      if (owner !== undefined) return owner.bytes
    } catch (error) {
      if (!(error instanceof EngineError)) throw error
    }
    await log.wait(place, ASK_AGAIN_MS)
  }
}

/** Reads the message at a place that is known to have one. Waits for a replica that lags. */
export async function readMessage(
  { log }: EngineConnection,
  place: number,
  signal: AbortSignal,
): Promise<Uint8Array> {
  for (;;) {
    signal.throwIfAborted()
    const [message] = await log.read(place, ONE_MESSAGE_BYTES)
    if (message !== undefined) return message.bytes
    await log.wait(place, ASK_AGAIN_MS)
  }
}
