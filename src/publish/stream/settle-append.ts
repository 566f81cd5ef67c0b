import type { EngineConnection } from '../../engine/log-engine.ts'
import { EngineError } from '../../engine/log-engine.ts'
import { ASK_AGAIN_MS, ONE_MESSAGE_BYTES } from './read-messages.ts'

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
