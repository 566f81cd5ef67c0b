import { base64 } from '@scure/base'
import { parseWhole } from '../../protocol/seq.ts'
import type { WitnessRefusal } from './feed-settings.ts'

/** Timeout of a witness's whole answer, in milliseconds. */
export const FEED_ANSWER_MS = 10_000
/** Bytes of the longest answer, enough for sixteen cosignatures of ML-DSA-44. */
export const FEED_ANSWER_BYTES_MAX = 65_536
/** Longest `Retry-After` that is obeyed, in milliseconds. */
export const FEED_RETRY_AFTER_MS_MAX = 3_600_000

/** A request to a witness (C2SP tlog-witness, add-checkpoint). */
export type CheckpointRequest = Readonly<{ oldSize: number; proof: readonly Uint8Array[]; note: string }>

/** Answer of a witness. `lines` are its unverified signature lines. */
export type CheckpointAnswer =
  | Readonly<{ is: 'lines'; lines: string }>
  | Readonly<{ is: 'conflict'; size: number }>
  | Readonly<{ is: 'refused'; reason: WitnessRefusal; retryAfterMs: number }>

/** Submits a checkpoint. Every failure is an answer; only the caller's signal throws. */
export async function postCheckpoint(
  url: string,
  { oldSize, proof, note }: CheckpointRequest,
  signal: AbortSignal,
  fetch: typeof globalThis.fetch = globalThis.fetch,
): Promise<CheckpointAnswer> {
  const give = new AbortController()
  try {
    const lines = [`old ${oldSize}`, ...proof.map((hash) => base64.encode(hash)), '', note]
    const response = await fetch(`${url}/add-checkpoint`, {
      method: 'POST',
      headers: { 'Content-Type': 'text/plain; charset=utf-8' },
      body: lines.join('\n'),
      signal: AbortSignal.any([signal, give.signal, AbortSignal.timeout(FEED_ANSWER_MS)]),
      // A redirect would send the request to a server that nobody chose.
      redirect: 'manual',
    })
    return await answerOf(response)
  } catch {
    signal.throwIfAborted()
    return refused('unreachable')
  } finally {
    // Closes the connection of an answer that was left early.
    give.abort()
  }
}

async function answerOf(response: Response): Promise<CheckpointAnswer> {
  const text = await textOf(response)
  if (text === undefined) return refused('malformed')
  const seconds = Number(response.headers.get('Retry-After') ?? 0)
  const retryAfterMs = seconds > 0 ? Math.min(seconds * 1_000, FEED_RETRY_AFTER_MS_MAX) : 0
  switch (response.status) {
    case 200:
      return { is: 'lines', lines: text }
    case 409: {
      const size = text.endsWith('\n') ? parseWhole(text.slice(0, -1)) : undefined
      return size === undefined ? refused('malformed') : { is: 'conflict', size }
    }
    case 403:
      return refused('key', retryAfterMs)
    case 404:
      return refused('unknown-log', retryAfterMs)
    case 422:
      return refused('disagrees', retryAfterMs)
    case 429:
      return refused('limited', retryAfterMs)
    default:
      return refused('failed', retryAfterMs)
  }
}

const refused = (reason: WitnessRefusal, retryAfterMs = 0): CheckpointAnswer => ({
  is: 'refused',
  reason,
  retryAfterMs,
})

/** Text of an answer; undefined when it is too long or not UTF-8. */
async function textOf({ body }: Response): Promise<string | undefined> {
  const pieces: Uint8Array[] = []
  let length = 0
  for await (const piece of body ?? []) {
    length += piece.byteLength
    if (length > FEED_ANSWER_BYTES_MAX) return undefined
    pieces.push(piece)
  }
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.concat(pieces))
  } catch {
    return undefined
  }
}
